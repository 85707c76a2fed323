-- Completed rounds and runs, newest first, with what the log says of each.
SELECT
    e.id AS event_id,
    e.session_id AS session_id,
    s.session_dir AS session_dir,
    e.event_type AS event_type,
    e.round AS number,
    CASE WHEN json_valid(e.metadata) THEN e.metadata END AS metadata
FROM orchestration_events AS e
INNER JOIN sessions AS s ON s.id = e.session_id
WHERE e.event_type IN ('round_completed', 'map_completed')
    AND typeof(e.round) = 'integer'
ORDER BY e.id DESC;
