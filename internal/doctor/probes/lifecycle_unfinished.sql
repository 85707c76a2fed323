-- lifecycle.unfinished: active sessions whose round or run is complete, and
-- that nobody works on: they only lack the end.
SELECT
    c.session_id AS session_id,
    c.current_round AS current_round,
    c.current_map_run AS current_map_run
FROM session_completeness AS c
WHERE c.marked_closed = 0
    AND c.has_terminal_artifact = 1
    AND c.dependents_settled = 1
    AND EXISTS (
        SELECT 1
        FROM orchestration_events AS e
        WHERE e.id = (
            SELECT MAX(n.id)
            FROM orchestration_events AS n
            WHERE n.session_id = c.session_id
        )
            AND unixepoch('now') - unixepoch(e.created_at) > 1800
    );
