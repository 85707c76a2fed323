-- Every index with its columns in order; origin is c for CREATE INDEX, u for
-- UNIQUE and pk for PRIMARY KEY inside a table.
SELECT
    m.name AS table_name,
    i.name AS name,
    i.origin AS origin,
    i."unique" AS is_unique,
    i.partial AS is_partial,
    (
        SELECT group_concat(c.part, ', ')
        FROM (
            SELECT IFNULL(x.name, '(expression)') AS part
            FROM pragma_index_xinfo(i.name) AS x
            WHERE x.key = 1
            ORDER BY x.seqno
        ) AS c
    ) AS columns
FROM sqlite_schema AS m
INNER JOIN pragma_index_list(m.name) AS i
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite@_%' ESCAPE '@'
ORDER BY m.name, i.name;
