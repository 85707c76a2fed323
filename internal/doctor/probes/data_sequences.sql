-- data.sequences: tables that have no id left, or hardly any, for a new row.
-- The engine gives the id behind the highest that was ever given, up to
-- 9223372036854775807, and then answers that the database is full.
SELECT h.table_name AS table_name, MAX(h.highest_id) AS highest_id
FROM (
    SELECT q.name AS table_name, q.seq AS highest_id
    FROM sqlite_sequence AS q
    WHERE typeof(q.seq) = 'integer'
    UNION ALL
    SELECT 'orchestration_events', MAX(e.id)
    FROM orchestration_events AS e
    UNION ALL
    SELECT 'command_executions', MAX(c.id)
    FROM command_executions AS c
) AS h
GROUP BY h.table_name
HAVING MAX(h.highest_id) > 9223372036854775807 - 1000000;
