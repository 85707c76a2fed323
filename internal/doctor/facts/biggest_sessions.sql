-- The sessions with the most events.
SELECT e.session_id AS session_id, count(*) AS events
FROM orchestration_events AS e
GROUP BY e.session_id
ORDER BY count(*) DESC, e.session_id
LIMIT 3;
