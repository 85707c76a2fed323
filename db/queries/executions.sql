-- name: ExecutionGet :one
-- One row as it is, by its number, and how it ended. Index: primary key.
SELECT
    x.id, x.command, x.args, j.exit_code, x.started_at, x.finished_at,
    CAST(CASE
        WHEN typeof(x.is_detached) = 'integer' THEN x.is_detached ELSE 0
    END AS INTEGER) AS is_detached,
    x.uid, x.workflow_id, x.vendor, x.vendor_session_id,
    x.persona, j.instance_index, x.name, x.resolved_model,
    x.last_heartbeat_at, x.notes, j.status
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.id = sqlc.arg(id);

-- name: ExecutionFind :one
-- The number of the row that callers know by this name: its uid, or, where it
-- has none, its number as text. Index: idx_command_executions_uid, primary key.
SELECT CAST(IFNULL(
    (
        SELECT x.id
        FROM command_executions AS x
        WHERE x.uid = CAST(sqlc.arg(name) AS TEXT)
    ),
    (
        SELECT n.id
        FROM command_executions AS n
        WHERE n.id = CAST(CAST(sqlc.arg(name) AS TEXT) AS INTEGER)
            AND CAST(n.id AS TEXT) = CAST(sqlc.arg(name) AS TEXT)
            AND IFNULL(n.uid, '') = ''
    )
) AS INTEGER) AS id
WHERE id > 0;

-- name: ExecutionWorkflow :one
-- The session that a process works for, by the process's name.
-- Index: idx_command_executions_uid.
SELECT x.workflow_id
FROM command_executions AS x
WHERE x.uid = sqlc.arg(uid);

-- name: ExecutionLink :execrows
-- Ties a process to a session; what is set already stays.
UPDATE command_executions
SET
    workflow_id = IFNULL(workflow_id, CAST(sqlc.arg(workflow_id) AS TEXT)),
    last_heartbeat_at = IFNULL(last_heartbeat_at, CAST(sqlc.arg(now) AS TEXT))
WHERE uid = sqlc.arg(uid);

-- name: ExecutionInsert :one
-- A process that begins its work for a session.
INSERT INTO command_executions (
    uid, command, workflow_id, vendor, persona, instance_index, name,
    resolved_model, pid, notes, started_at, last_heartbeat_at
) VALUES (
    sqlc.arg(uid), sqlc.arg(command), sqlc.arg(workflow_id),
    sqlc.arg(vendor), sqlc.narg(persona), sqlc.narg(instance_index),
    sqlc.narg(name), sqlc.narg(resolved_model), sqlc.narg(pid),
    sqlc.narg(notes), sqlc.arg(now), sqlc.arg(now)
)
RETURNING id;

-- name: ExecutionIdentify :execrows
-- Which process the row means, for those who want to know whether it lives.
INSERT INTO process_identity (
    execution_id, machine, host, boot_id, pid_space, time_space, pid,
    pid_started_ms, pid_started_ticks, phase
) VALUES (
    sqlc.arg(execution_id), sqlc.narg(machine), sqlc.narg(host),
    sqlc.narg(boot_id), sqlc.narg(pid_space), sqlc.narg(time_space),
    sqlc.narg(pid), sqlc.narg(pid_started_ms), sqlc.narg(pid_started_ticks),
    sqlc.narg(phase)
);

-- name: ExecutionBeat :execrows
-- A sign of life. The caller has seen that the row is unfinished.
UPDATE command_executions
SET last_heartbeat_at = CAST(sqlc.arg(now) AS TEXT)
WHERE id = sqlc.arg(id);

-- name: ExecutionBind :execrows
-- The name that the vendor gave to the process's own session. The caller has
-- seen that there is no other one.
UPDATE command_executions
SET vendor_session_id = CAST(sqlc.arg(vendor_session_id) AS TEXT)
WHERE id = sqlc.arg(id);

-- name: ExecutionNote :execrows
-- Adds a line to what was noted.
UPDATE command_executions
SET
    notes = CASE
        WHEN notes IS NULL OR notes = '' THEN sqlc.arg(note)
        ELSE notes || char(10) || sqlc.arg(note)
    END
WHERE id = sqlc.arg(id);

-- name: ExecutionEnd :execrows
-- The process reports its end. The caller has seen that the row is unfinished.
UPDATE command_executions
SET
    exit_code = CAST(sqlc.arg(exit_code) AS INTEGER),
    finished_at = CAST(sqlc.arg(now) AS TEXT)
WHERE id = sqlc.arg(id);

-- name: ExecutionOrphan :execrows
-- The process was found dead. Only the row that the proof was about: a process
-- that gave a sign of life, or ended, meanwhile is left as it is.
UPDATE command_executions
SET
    exit_code = CAST(sqlc.arg(exit_code) AS INTEGER),
    pid = NULL,
    finished_at = sqlc.arg(now),
    notes = CASE
        WHEN notes IS NULL OR notes = '' THEN sqlc.arg(note)
        ELSE notes || char(10) || sqlc.arg(note)
    END
WHERE id = sqlc.arg(id)
    AND finished_at IS NULL
    AND pid IS sqlc.narg(pid)
    AND last_heartbeat_at IS sqlc.narg(last_heartbeat_at);

-- name: ExecutionCloseWithSession :many
-- Ends the unfinished processes of a session that is being closed, or whose
-- supervisor is dead, and returns which; not the caller's own row, which
-- reports its own end. The caller is known by uid, or, where the row has none,
-- by its number; one without a row is ''.
-- Index: idx_command_executions_workflow.
UPDATE command_executions
SET
    exit_code = CAST(sqlc.arg(exit_code) AS INTEGER),
    pid = NULL,
    finished_at = sqlc.arg(now),
    notes = CASE
        WHEN notes IS NULL OR notes = '' THEN sqlc.arg(note)
        ELSE notes || char(10) || sqlc.arg(note)
    END
WHERE workflow_id = sqlc.arg(workflow_id)
    AND finished_at IS NULL
    AND CAST(IFNULL(NULLIF(uid, ''), id) AS TEXT)
        <> CAST(sqlc.arg(caller) AS TEXT)
RETURNING id;

-- name: ExecutionAny :one
-- Whether any process is recorded.
SELECT EXISTS (SELECT 1 FROM command_executions AS x) AS found;

-- name: ExecutionRestore :execrows
-- A finished process as the recovery log knows it. One that has a row stays as
-- it is; a session that is not known any more is left out.
INSERT INTO command_executions (
    uid, command, args, exit_code, started_at, finished_at, is_detached,
    workflow_id, vendor, vendor_session_id, persona, instance_index, name,
    resolved_model, last_heartbeat_at, notes
) VALUES (
    sqlc.arg(uid), sqlc.arg(command), sqlc.narg(args), sqlc.narg(exit_code),
    sqlc.arg(started_at), sqlc.narg(finished_at), sqlc.arg(is_detached),
    (
        SELECT s.id
        FROM sessions AS s
        WHERE s.id = CAST(sqlc.narg(workflow_id) AS TEXT)
    ),
    sqlc.narg(vendor), sqlc.narg(vendor_session_id), sqlc.narg(persona),
    sqlc.narg(instance_index), sqlc.narg(name), sqlc.narg(resolved_model),
    sqlc.narg(last_heartbeat_at), sqlc.narg(notes)
)
ON CONFLICT (uid) DO NOTHING;

-- name: JournalUnfinished :many
-- The processes that a session still waits for.
-- Index: idx_command_executions_workflow.
SELECT sqlc.embed(j)
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.workflow_id = sqlc.arg(workflow_id)
    AND x.finished_at IS NULL
ORDER BY x.id;

-- name: JournalRunning :many
-- The unfinished processes of every session that keep a heartbeat. Only a look
-- at the process itself can prove that one is dead.
-- Index: idx_command_executions_unfinished.
SELECT sqlc.embed(j)
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.finished_at IS NULL
    AND x.last_heartbeat_at IS NOT NULL
ORDER BY +x.id;

-- name: JournalVendorHolder :one
-- Another unfinished process that is bound to this session of its vendor.
-- Index: idx_command_executions_unfinished.
SELECT j.id
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.finished_at IS NULL
    AND x.last_heartbeat_at IS NOT NULL
    AND x.vendor_session_id = CAST(sqlc.arg(vendor_session_id) AS TEXT)
    AND x.id <> sqlc.arg(id)
ORDER BY +x.id
LIMIT 1;

-- name: JournalOfSession :many
-- The journaled processes of one session, oldest first.
-- Index: idx_command_executions_workflow.
SELECT sqlc.embed(j)
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.workflow_id = sqlc.arg(workflow_id)
    AND x.last_heartbeat_at IS NOT NULL
ORDER BY unixepoch(x.started_at), x.id;

-- name: JournalAll :many
-- All journaled processes, oldest first.
-- Index: idx_command_executions_heartbeat.
SELECT sqlc.embed(j)
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.last_heartbeat_at IS NOT NULL
ORDER BY unixepoch(x.started_at), x.id;

-- name: JournalGet :one
-- One process by its row's number. Index: primary key.
SELECT sqlc.embed(j)
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.id = sqlc.arg(id);

-- name: JournalNewestUnbound :one
-- The process of a session that was recorded last, among those that run and
-- are not bound to a vendor's session.
-- Index: idx_command_executions_workflow.
SELECT x.id
FROM command_executions AS x
WHERE x.workflow_id = sqlc.arg(workflow_id)
    AND x.finished_at IS NULL
    AND x.last_heartbeat_at IS NOT NULL
    AND IFNULL(x.vendor_session_id, '') = ''
ORDER BY x.id DESC
LIMIT 1;

-- name: JournalNewestBound :one
-- The process of a session that was recorded last, among those that are bound
-- to a vendor's session. Index: idx_command_executions_workflow.
SELECT sqlc.embed(j)
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.workflow_id = sqlc.arg(workflow_id)
    AND x.last_heartbeat_at IS NOT NULL
    AND x.vendor_session_id <> ''
ORDER BY x.id DESC
LIMIT 1;

-- name: JournalFoundDead :one
-- Whether a sweep found a process of the session dead and nothing happened in
-- the session since. Index: idx_command_executions_workflow.
SELECT EXISTS (
    SELECT 1
    FROM command_executions AS x
    INNER JOIN session_idle AS i ON i.session_id = x.workflow_id
    WHERE x.workflow_id = CAST(sqlc.arg(session_id) AS TEXT)
        AND x.exit_code = -3
        AND x.last_heartbeat_at IS NOT NULL
        AND x.finished_at
        GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
        AND unixepoch(x.finished_at) >= i.last_epoch
) AS found;
