-- name: SweepSessions :many
-- Active sessions without an unfinished process that nobody needs open:
-- finish where the current round or run is complete; stale where the last
-- event (of an empty log: the row) is older than the threshold; unreadable
-- where its time is none, so that nothing can be said. One whose lease is in
-- force is left to the lease's owner. Of all sessions, or
-- only of the one that is named. Rows in ended count as finished: a dry run
-- names those that it would have ended.
-- Index: idx_sessions_status, idx_events_session.
SELECT
    a.session_id, a.workflow_type, a.phase_number, a.current_round,
    a.current_map_run, a.last_at, a.verdict
FROM (
    SELECT
        s.id AS session_id,
        s.workflow_type AS workflow_type,
        CAST(CASE
            WHEN typeof(s.phase_number) = 'integer' THEN s.phase_number ELSE 0
        END AS INTEGER) AS phase_number,
        c.current_round AS current_round,
        c.current_map_run AS current_map_run,
        i.last_at AS last_at,
        CASE
            WHEN c.has_terminal_artifact = 1 THEN 'finish'
            WHEN i.last_epoch IS NULL THEN 'unreadable'
            WHEN CAST(sqlc.arg(now_epoch) AS INTEGER) - i.last_epoch
                > CAST(sqlc.arg(threshold_seconds) AS INTEGER) THEN 'stale'
            ELSE 'leave'
        END AS verdict
    FROM sessions AS s
    INNER JOIN session_completeness AS c ON c.session_id = s.id
    INNER JOIN session_idle AS i ON i.session_id = s.id
    WHERE s.status = 'active'
        AND s.id = IFNULL(CAST(sqlc.narg(session_id) AS TEXT), s.id)
        AND NOT EXISTS (
            SELECT 1
            FROM command_executions AS x
            WHERE x.workflow_id = s.id
                AND x.finished_at IS NULL
                AND x.id NOT IN (
                    SELECT CAST(j.value AS INTEGER)
                    FROM json_each(CAST(sqlc.arg(ended) AS TEXT)) AS j
                )
        )
) AS a
WHERE a.verdict <> 'leave'
    AND NOT EXISTS (
        SELECT 1
        FROM leases AS l
        WHERE l.session_id = a.session_id
            AND l.is_newest = 1
            AND l.owner IS NOT NULL
            AND l.owner_ended = 0
            AND IFNULL(
                l.last_sign_epoch + l.lease_seconds
                > CAST(sqlc.arg(now_epoch) AS INTEGER),
                1
            )
    )
ORDER BY a.session_id;

-- name: SyncKnown :many
-- The sessions that have a row, and their folders.
SELECT s.id, s.session_dir
FROM sessions AS s
WHERE s.id IS NOT NULL
ORDER BY s.rowid;

-- name: SyncInsert :execrows
-- A session found on disk, still active: the caller appends session_synced and
-- then closes it with SyncClose.
INSERT INTO sessions (
    id, branch, workflow_type, current_phase, phase_number, current_round,
    current_map_run, started_at, updated_at, session_dir
) VALUES (
    sqlc.arg(id), sqlc.arg(branch), sqlc.arg(workflow_type),
    sqlc.arg(current_phase), sqlc.arg(phase_number), sqlc.arg(current_round),
    sqlc.arg(current_map_run), sqlc.arg(now), sqlc.arg(now),
    sqlc.arg(session_dir)
);

-- name: SyncClose :execrows
-- Closes a session found on disk and leaves it in the phase it was found in.
UPDATE sessions
SET status = 'closed'
WHERE id = sqlc.arg(id);

-- name: MarkdownUpsert :execrows
-- A text as it lies on disk. The key counts a missing round as one value, so
-- that a text is stored once; the same content again writes nothing.
-- Index: idx_markdown_artifacts_logical.
INSERT INTO markdown_artifacts (
    session_id, artifact_type, round_number, file_path, content, parsed_at
) VALUES (
    sqlc.arg(session_id), sqlc.arg(artifact_type), sqlc.narg(round_number),
    sqlc.arg(file_path), sqlc.arg(content), sqlc.arg(now)
)
ON CONFLICT DO UPDATE
SET
    content = excluded.content,
    parsed_at = excluded.parsed_at
WHERE content IS NOT excluded.content;

-- name: MarkdownStored :one
-- Whether a text stands there just as it lies on disk; 0 or 1.
-- Index: idx_markdown_artifacts_logical.
SELECT COUNT(*) AS texts
FROM markdown_artifacts AS m
WHERE m.session_id = sqlc.arg(session_id)
    AND m.artifact_type = sqlc.arg(artifact_type)
    AND IFNULL(m.round_number, -1)
        = IFNULL(CAST(sqlc.narg(round_number) AS INTEGER), -1)
    AND m.file_path = sqlc.arg(file_path)
    AND m.content = sqlc.arg(content);
