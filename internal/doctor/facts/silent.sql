-- Unfinished processes without a process id, by the age of their heartbeat.
SELECT
    j.id AS id,
    j.workflow_id AS session_id,
    j.name AS name,
    j.heartbeat_age_seconds AS heartbeat_age_seconds
FROM command_executions AS x
INNER JOIN agent_journal AS j ON j.execution_id = x.id
WHERE x.finished_at IS NULL
    AND x.last_heartbeat_at IS NOT NULL
    AND j.pid IS NULL
    AND j.heartbeat_age_seconds > 0;
