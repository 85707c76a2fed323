-- data.times: times that are none, or lie more than five minutes ahead.
-- The first are never older than anything, the second not for a long time: no
-- sweep ends what carries them.
SELECT t.table_name, t.row_id, t.column_name, t.value, t.fault
FROM (
    SELECT
        v.table_name AS table_name,
        v.row_id AS row_id,
        v.column_name AS column_name,
        v.value AS value,
        CASE
            WHEN v.value NOT GLOB
                    '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
                OR unixepoch(v.value) IS NULL THEN 'unreadable'
            WHEN unixepoch(v.value) > unixepoch('now') + 300 THEN 'ahead'
        END AS fault
    FROM (
        SELECT
            'orchestration_events' AS table_name,
            e.id AS row_id,
            'created_at' AS column_name,
            e.created_at AS value
        FROM orchestration_events AS e
        UNION ALL
        SELECT 'sessions', s.id, 'started_at', s.started_at
        FROM sessions AS s
        UNION ALL
        SELECT 'sessions', s.id, 'updated_at', s.updated_at
        FROM sessions AS s
        UNION ALL
        SELECT 'command_executions', x.id, 'started_at', x.started_at
        FROM command_executions AS x
        UNION ALL
        SELECT 'command_executions', x.id, 'finished_at', x.finished_at
        FROM command_executions AS x
        WHERE x.finished_at IS NOT NULL
        UNION ALL
        SELECT
            'command_executions', x.id, 'last_heartbeat_at',
            x.last_heartbeat_at
        FROM command_executions AS x
        WHERE x.last_heartbeat_at IS NOT NULL
    ) AS v
    -- Quick to say for the many that are sound.
    WHERE IFNULL(unixepoch(v.value), 1e15) > unixepoch('now') + 300
        OR substr(v.value, 5, 1) <> '-'
) AS t
WHERE t.fault IS NOT NULL;
