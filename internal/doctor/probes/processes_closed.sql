-- processes.closed: processes that have not ended, of sessions that have.
SELECT
    j.id AS id,
    j.workflow_id AS session_id,
    j.name AS name,
    j.pid AS pid,
    j.last_heartbeat_at AS last_heartbeat_at
FROM agent_journal AS j
INNER JOIN sessions AS s ON s.id = j.workflow_id
WHERE j.status = 'running' AND s.status = 'closed';
