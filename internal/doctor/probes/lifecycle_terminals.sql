-- lifecycle.terminals: rounds or runs that the log completes more than once.
-- Other programs once allowed it. The log is never changed: the first counts.
SELECT
    e.session_id AS session_id,
    e.event_type AS event_type,
    e.round AS number,
    count(*) AS times
FROM orchestration_events AS e
WHERE e.event_type IN ('round_completed', 'map_completed')
GROUP BY e.session_id, e.event_type, e.round
HAVING count(*) > 1;
