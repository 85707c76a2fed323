-- What:  A journal of agent processes in a table of its own.
-- Why:   A session must know which of its agents still work.
-- Rows:  None touched; one new table.
-- Back:  Reversible by dropping the table; its rows would be lost.

CREATE TABLE agent_sessions (
    -- One agent process. Folded into command_executions by version 11.
    id TEXT PRIMARY KEY,
    workflow_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE RESTRICT,
    -- Maker of the agent, such as claude.
    vendor TEXT NOT NULL,
    -- The vendor's own name for the conversation; NULL until bound.
    vendor_session_id TEXT,
    -- Role the agent plays; NULL when it has none.
    persona TEXT,
    -- Tells agents of one persona apart; NULL when not numbered.
    instance_index INTEGER,
    -- Display name; NULL when not given.
    name TEXT,
    -- Model that answered; NULL when not told.
    resolved_model TEXT,
    -- Phase the agent works in; NULL when not told.
    phase TEXT,
    status TEXT NOT NULL CHECK (
        status IN (
            'spawning', 'running', 'done', 'crashed', 'cancelled', 'orphaned'
        )
    ),
    -- Process id; NULL when unknown.
    pid INTEGER,
    -- UTC.
    started_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- UTC; last sign of life.
    last_heartbeat_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- UTC; NULL while running.
    ended_at TEXT,
    -- NULL while running, or when not told.
    exit_code INTEGER,
    -- Free text; NULL when there is none.
    notes TEXT
);

CREATE INDEX idx_agent_sessions_workflow ON agent_sessions(workflow_id);

CREATE INDEX idx_agent_sessions_status_heartbeat
    ON agent_sessions(status, last_heartbeat_at);

INSERT INTO schema_version (version, description)
VALUES (10, 'journal of agent processes');
