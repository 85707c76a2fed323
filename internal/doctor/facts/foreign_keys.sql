-- Foreign keys of every table.
SELECT
    m.name AS table_name,
    f."from" AS name,
    f."table" AS parent,
    IFNULL(f."to", '') AS parent_column,
    f.on_delete AS on_delete,
    f.on_update AS on_update
FROM sqlite_schema AS m
INNER JOIN pragma_foreign_key_list(m.name) AS f
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite@_%' ESCAPE '@'
ORDER BY m.name, f.id, f.seq;
