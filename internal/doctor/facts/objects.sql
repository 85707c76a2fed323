-- Indexes, triggers and views, and the statements that made them.
SELECT m.type AS type, m.name AS name, m.tbl_name AS table_name, m.sql AS sql
FROM sqlite_schema AS m
WHERE m.type IN ('index', 'trigger', 'view') AND m.sql IS NOT NULL
ORDER BY m.type, m.name;
