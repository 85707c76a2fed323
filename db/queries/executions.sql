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

-- name: ExecutionCloseWithSession :execrows
-- Ends the unfinished processes of a session that is being closed, but not
-- the caller's own row, which reports its own end.
-- Index: idx_command_executions_workflow.
UPDATE command_executions
SET
    exit_code = -4,
    pid = NULL,
    finished_at = sqlc.arg(now),
    notes = CASE
        WHEN notes IS NULL OR notes = '' THEN sqlc.arg(note)
        ELSE notes || char(10) || sqlc.arg(note)
    END
WHERE workflow_id = sqlc.arg(workflow_id)
    AND finished_at IS NULL
    AND uid IS NOT sqlc.narg(caller_uid);

-- name: JournalUnfinished :many
-- The processes that a session still waits for.
-- Index: idx_command_executions_workflow.
SELECT
    j.execution_id, j.id, j.name, j.kind, j.pid, j.started_at,
    j.last_heartbeat_at, j.heartbeat_age_seconds
FROM agent_journal AS j
WHERE j.workflow_id = sqlc.arg(workflow_id)
    AND j.status = 'running'
ORDER BY j.execution_id;
