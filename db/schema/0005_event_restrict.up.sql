-- What:  The event log keeps its session: ON DELETE RESTRICT, not CASCADE.
-- Why:   Deleting a session must not silently take its evidence along.
-- Rows:  Every event is copied with its id; none is changed.
-- Back:  Reversible by the same rebuild with CASCADE.
-- Note:  Runs with foreign keys off, as every step does.

CREATE TABLE orchestration_events_new (
    -- The event log. Order is the order of id; times have whole seconds only.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- A session with events cannot be deleted.
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE RESTRICT,
    -- What happened; version 12 limits the words.
    event_type TEXT NOT NULL,
    -- Phase concerned; NULL where the event has none.
    phase TEXT,
    -- Number of that phase; NULL where the event has none.
    phase_number INTEGER,
    -- Review round (map_completed: map run); NULL where the event has none.
    round INTEGER,
    -- JSON object with further facts; NULL when there are none.
    metadata TEXT,
    -- UTC, YYYY-MM-DD HH:MM:SS; other writers may store ISO 8601.
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
);

INSERT INTO orchestration_events_new (
    id, session_id, event_type, phase, phase_number, round, metadata,
    created_at
)
SELECT
    id, session_id, event_type, phase, phase_number, round, metadata,
    created_at
FROM orchestration_events
ORDER BY id;

DROP TABLE orchestration_events;

ALTER TABLE orchestration_events_new RENAME TO orchestration_events;

CREATE INDEX idx_events_session ON orchestration_events(session_id);

CREATE INDEX idx_events_type ON orchestration_events(event_type);

INSERT INTO schema_version (version, description)
VALUES (5, 'sessions with events cannot be deleted');
