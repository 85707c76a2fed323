-- name: SessionList :many
-- Sessions of one status, or of 'all'; newest first. Where the same second
-- began several, the later row is the newer one. The number of a phase is 0
-- where another program stored something else, so that the others are shown.
SELECT
    s.id, s.branch, s.status, s.workflow_type, s.current_phase,
    CAST(CASE
        WHEN typeof(s.phase_number) = 'integer' THEN s.phase_number ELSE 0
    END AS INTEGER) AS phase_number,
    c.current_round, c.current_map_run, s.started_at,
    s.updated_at, s.session_dir, c.completeness_state, v.verdict,
    v.blocker_count
FROM sessions AS s
INNER JOIN session_completeness AS c ON c.session_id = s.id
INNER JOIN session_verdict AS v ON v.session_id = s.id
WHERE s.id IS NOT NULL
    AND (
        s.status = CAST(sqlc.arg(status) AS TEXT)
        OR CAST(sqlc.arg(status) AS TEXT) = 'all'
    )
ORDER BY unixepoch(s.started_at) DESC, s.rowid DESC;

-- name: SessionActiveIDs :many
-- Names of the active sessions. Index: idx_sessions_status.
SELECT s.id
FROM sessions AS s
WHERE s.status = 'active' AND s.id IS NOT NULL
ORDER BY s.id;

-- name: SessionInsert :execrows
-- A new session; the triggers want it active and at round and run 1.
INSERT INTO sessions (
    id, branch, workflow_type, current_phase, phase_number, started_at,
    updated_at, session_dir
) VALUES (
    sqlc.arg(id), sqlc.arg(branch), sqlc.arg(workflow_type),
    sqlc.arg(current_phase), 1, sqlc.arg(now), sqlc.arg(now),
    sqlc.arg(session_dir)
);

-- name: SessionMove :execrows
-- Phase, round and run of a session that stays as open as it is.
UPDATE sessions
SET
    current_phase = sqlc.arg(current_phase),
    phase_number = sqlc.arg(phase_number),
    current_round = sqlc.arg(current_round),
    current_map_run = sqlc.arg(current_map_run),
    updated_at = sqlc.arg(now)
WHERE id = sqlc.arg(id);

-- name: SessionReopen :execrows
-- A closed or completed session is opened again.
UPDATE sessions
SET
    status = 'active',
    current_phase = sqlc.arg(current_phase),
    phase_number = sqlc.arg(phase_number),
    current_round = sqlc.arg(current_round),
    current_map_run = sqlc.arg(current_map_run),
    updated_at = sqlc.arg(now)
WHERE id = sqlc.arg(id);

-- name: SessionClose :execrows
-- The caller has appended the reason event, or the log holds the terminal
-- event of the current round or run: else the close guard refuses.
UPDATE sessions
SET
    status = 'closed',
    current_phase = 'complete',
    phase_number = sqlc.arg(phase_number),
    current_round = sqlc.arg(current_round),
    current_map_run = sqlc.arg(current_map_run),
    updated_at = sqlc.arg(now)
WHERE id = sqlc.arg(id);

-- name: WorkflowPhases :many
-- The phases of one workflow in order.
SELECT p.phase, p.phase_number
FROM workflow_phases AS p
WHERE p.workflow_type = CAST(sqlc.arg(workflow_type) AS TEXT)
ORDER BY p.phase_number;

-- name: SessionLastActivity :one
-- When something last happened in a session: the time as it is stored, and the
-- same instant in seconds since 1970, NULL when the text is no time; whether
-- nothing happened since the current round or run was opened.
-- Index: idx_events_session.
SELECT
    i.last_event_id, i.last_at, i.last_epoch,
    EXISTS (
        SELECT 1
        FROM opening_events AS o
        WHERE o.event_id = i.last_event_id
    ) AS is_just_opened
FROM session_idle AS i
WHERE i.session_id = sqlc.arg(session_id);
