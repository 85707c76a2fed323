-- What:  Agent processes move into command_executions; agent_sessions goes.
-- Why:   One journal of processes instead of two that disagree.
-- Rows:  Every agent_sessions row is carried over first. A row whose id is
--        already some command's uid is skipped: that command is the same
--        process, recorded by the newer writer.
-- Back:  Not reversible; the snapshot of version 10 holds the old table.

ALTER TABLE command_executions
    ADD COLUMN workflow_id TEXT REFERENCES sessions(id) ON DELETE RESTRICT
    /* session the process works for; NULL: none */;

ALTER TABLE command_executions
    ADD COLUMN parent_id INTEGER REFERENCES command_executions(id)
    /* dropped again by version 13 */;

ALTER TABLE command_executions
    ADD COLUMN vendor TEXT /* maker of the agent; NULL: not an agent */;

ALTER TABLE command_executions
    ADD COLUMN vendor_session_id TEXT /* vendor's name for it; NULL: unbound */;

ALTER TABLE command_executions
    ADD COLUMN persona TEXT /* role of the agent; NULL: none */;

ALTER TABLE command_executions
    ADD COLUMN instance_index INTEGER /* tells one persona's agents apart */;

ALTER TABLE command_executions
    ADD COLUMN name TEXT /* display name; NULL: none */;

ALTER TABLE command_executions
    ADD COLUMN resolved_model TEXT /* model that answered; NULL: not told */;

ALTER TABLE command_executions
    ADD COLUMN last_heartbeat_at TEXT /* UTC; NULL: not a journaled process */;

ALTER TABLE command_executions
    ADD COLUMN notes TEXT /* free text, a line for each thing noted */;

CREATE INDEX idx_command_executions_workflow
    ON command_executions(workflow_id);

CREATE INDEX idx_command_executions_parent ON command_executions(parent_id);

CREATE INDEX idx_command_executions_heartbeat
    ON command_executions(last_heartbeat_at);

INSERT INTO command_executions (
    uid, command, exit_code, started_at, finished_at, pid, workflow_id,
    vendor, vendor_session_id, persona, instance_index, name,
    resolved_model, last_heartbeat_at, notes
)
SELECT
    a.id,
    CASE
        WHEN a.persona IS NOT NULL AND a.instance_index IS NOT NULL
            THEN 'session-instance:' || a.persona || '-' || a.instance_index
        ELSE 'session-instance'
    END,
    CASE a.status
        WHEN 'done' THEN 0
        WHEN 'crashed' THEN CASE
            -- Codes that would read as another end than a crash.
            WHEN a.exit_code IN (0, -2, -3, -4) THEN 1
            ELSE IFNULL(a.exit_code, 1)
        END
        WHEN 'cancelled' THEN -2
        WHEN 'orphaned' THEN -3
    END,
    a.started_at,
    CASE
        WHEN a.status IN ('done', 'crashed', 'cancelled', 'orphaned')
            THEN IFNULL(a.ended_at, a.last_heartbeat_at)
    END,
    a.pid,
    a.workflow_id,
    a.vendor,
    a.vendor_session_id,
    a.persona,
    a.instance_index,
    a.name,
    a.resolved_model,
    a.last_heartbeat_at,
    CASE
        WHEN a.phase IS NULL THEN a.notes
        WHEN a.notes IS NULL THEN 'phase: ' || a.phase
        ELSE a.notes || char(10) || 'phase: ' || a.phase
    END
FROM agent_sessions AS a
WHERE NOT EXISTS (
    SELECT 1 FROM command_executions AS c WHERE c.uid = a.id
)
ORDER BY a.started_at, a.id;

DROP TABLE agent_sessions;

INSERT INTO schema_version (version, description)
VALUES (11, 'one journal of processes');
