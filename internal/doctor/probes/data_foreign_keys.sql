-- data.foreign_keys: rows that refer to a row that is not there.
-- Left behind by programs that had foreign keys switched off. The log is the
-- one large table: there each session is looked up once and not each event.
WITH RECURSIVE logged AS (
    SELECT (SELECT MIN(e.session_id) FROM orchestration_events AS e) AS id
    UNION ALL
    SELECT (
        SELECT MIN(n.session_id)
        FROM orchestration_events AS n
        WHERE n.session_id > l.id
    )
    FROM logged AS l
    WHERE l.id IS NOT NULL
)
SELECT
    'orchestration_events' AS table_name,
    e.id AS row_id,
    'sessions' AS missing_in
FROM logged AS l
INNER JOIN orchestration_events AS e ON e.session_id = l.id
WHERE l.id NOT IN (SELECT s.id FROM sessions AS s WHERE s.id IS NOT NULL)
UNION ALL
SELECT f."table", f.rowid, f.parent
FROM sqlite_schema AS m
INNER JOIN pragma_foreign_key_check(m.name) AS f
WHERE m.type = 'table' AND m.name <> 'orchestration_events';
