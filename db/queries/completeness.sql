-- name: StateGet :one
-- Row, current round and run, completion and openings of one session. The
-- number of a phase is 0 where another program stored something else.
SELECT
    s.id, s.branch, s.workflow_type, s.status, s.current_phase,
    CAST(CASE
        WHEN typeof(s.phase_number) = 'integer' THEN s.phase_number ELSE 0
    END AS INTEGER) AS phase_number,
    s.started_at, s.updated_at, s.session_dir,
    c.current_round, c.current_map_run, c.completeness_state,
    c.has_terminal_artifact, c.marked_closed, c.dependents_settled,
    p.round_started_at, p.map_started_at
FROM sessions AS s
INNER JOIN session_completeness AS c ON c.session_id = s.id
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE s.id = sqlc.arg(id);

-- name: CompletenessGet :one
-- Whether one session is finished, by its current round or run.
SELECT
    c.session_id, c.workflow_type, c.status, c.current_round,
    c.current_map_run, c.has_terminal_artifact, c.marked_closed,
    c.dependents_settled, c.completeness_state
FROM session_completeness AS c
WHERE c.session_id = sqlc.arg(session_id);

-- name: VerdictGet :one
-- What the latest completed round of a session said; NULL in all columns while
-- there is none. Index: idx_events_session_type.
SELECT v.round, v.verdict, v.blocker_count
FROM session_verdict AS v
WHERE v.session_id = sqlc.arg(session_id);
