-- data.foreign_keys: rows that refer to a row that is not there.
-- Left behind by programs that had foreign keys switched off. The log is the
-- one large table: there each session is looked up once and not each event,
-- and stands here once, with the first event.
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
    (
        SELECT MIN(e.id)
        FROM orchestration_events AS e
        WHERE e.session_id = l.id
    ) AS row_id,
    'sessions' AS missing_in,
    l.id AS session_id
FROM logged AS l
WHERE l.id IS NOT NULL
    AND l.id NOT IN (SELECT s.id FROM sessions AS s WHERE s.id IS NOT NULL)
UNION ALL
SELECT f."table", f.rowid, f.parent, NULL
FROM sqlite_schema AS m
INNER JOIN pragma_foreign_key_check(m.name) AS f
WHERE m.type = 'table' AND m.name <> 'orchestration_events';
