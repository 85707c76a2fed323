-- Columns of every table.
SELECT
    m.name AS table_name,
    c.name AS name,
    upper(c.type) AS type,
    c."notnull" AS is_not_null,
    c.dflt_value AS default_value,
    c.pk AS key_position
FROM sqlite_schema AS m
INNER JOIN pragma_table_xinfo(m.name) AS c
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite@_%' ESCAPE '@'
ORDER BY m.name, c.cid;
