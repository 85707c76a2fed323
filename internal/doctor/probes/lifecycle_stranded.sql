-- lifecycle.stranded: active sessions without a result in which nothing
-- happened for half an hour, up to seven days, and that no process works for.
SELECT
    t.session_id AS session_id,
    t.current_phase AS current_phase,
    t.last_at AS last_at,
    (unixepoch('now') - unixepoch(t.last_at)) / 60 AS minutes
FROM (
    SELECT
        s.id AS session_id,
        s.current_phase AS current_phase,
        IFNULL((
            SELECT e.created_at
            FROM orchestration_events AS e
            WHERE e.id = (
                SELECT MAX(n.id)
                FROM orchestration_events AS n
                WHERE n.session_id = s.id
            )
        ), s.updated_at) AS last_at
    FROM sessions AS s
    INNER JOIN session_completeness AS c ON c.session_id = s.id
    WHERE s.status = 'active'
        AND c.has_terminal_artifact = 0
        AND c.dependents_settled = 1
) AS t
WHERE t.last_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
    AND unixepoch('now') - unixepoch(t.last_at) BETWEEN 1801 AND 604800;
