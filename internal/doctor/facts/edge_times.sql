-- The same as the probe data_times.sql for a long log: of its times only the
-- newest 100000, and the first and last of each session in the order of text.
-- What is no time stands mostly at one end of that order.
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
        WHERE e.id > (
            SELECT MAX(n.id) FROM orchestration_events AS n
        ) - 100000
        UNION ALL
        SELECT
            'orchestration_events', s.id, 'created_at',
            (
                SELECT MIN(f.created_at)
                FROM orchestration_events AS f
                WHERE f.session_id = s.id
            )
        FROM sessions AS s
        UNION ALL
        SELECT
            'orchestration_events', s.id, 'created_at',
            (
                SELECT MAX(l.created_at)
                FROM orchestration_events AS l
                WHERE l.session_id = s.id
            )
        FROM sessions AS s
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
    WHERE v.value IS NOT NULL
        AND (
            IFNULL(unixepoch(v.value), 1e15) > unixepoch('now') + 300
            OR substr(v.value, 5, 1) <> '-'
        )
) AS t
WHERE t.fault IS NOT NULL;
