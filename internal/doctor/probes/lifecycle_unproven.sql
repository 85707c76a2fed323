-- lifecycle.unproven: sessions that are closed without proof.
-- Proof is the event that completes the current round or run, or a stated
-- reason that is newer than the last opening.
SELECT
    c.session_id AS session_id,
    c.workflow_type AS workflow_type,
    c.current_round AS current_round,
    c.current_map_run AS current_map_run
FROM session_completeness AS c
WHERE c.marked_closed = 1
    AND c.has_terminal_artifact = 0
    AND NOT EXISTS (
        SELECT 1 FROM valid_reasons AS r WHERE r.session_id = c.session_id
    );
