-- Tables of the file, and the statements that made them.
SELECT m.name AS name, m.sql AS sql
FROM sqlite_schema AS m
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite@_%' ESCAPE '@'
ORDER BY m.name;
