-- What:  Conversations about a round or a run, and triage of whole rounds.
-- Why:   People ask about a review where they read it.
-- Rows:  None touched; three new tables.
-- Back:  Reversible by dropping the three tables; their rows would be lost.

CREATE TABLE chat_conversations (
    -- One conversation about one round or run. User data.
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    target_type TEXT NOT NULL
        CHECK (target_type IN ('map_run', 'review_round')),
    -- id in map_runs or review_rounds.
    target_id INTEGER NOT NULL,
    -- The assistant's own name for the conversation; NULL before its answer.
    claude_session_id TEXT,
    status TEXT NOT NULL DEFAULT 'active'
        CHECK (status IN ('active', 'expired')),
    -- UTC.
    created_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- UTC.
    last_active_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE chat_messages (
    -- One message of a conversation. User data.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id TEXT NOT NULL
        REFERENCES chat_conversations(id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    content TEXT NOT NULL,
    -- UTC.
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE user_round_progress (
    -- A person's triage of a whole round. User data.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    round_id INTEGER NOT NULL
        REFERENCES review_rounds(id) ON DELETE CASCADE,
    status TEXT NOT NULL DEFAULT 'needs_review' CHECK (
        status IN (
            'needs_review', 'in_progress', 'changes_made',
            'acknowledged', 'dismissed'
        )
    ),
    -- UTC.
    updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    UNIQUE (round_id)
);

INSERT INTO schema_version (version, description)
VALUES (2, 'conversations and round triage');
