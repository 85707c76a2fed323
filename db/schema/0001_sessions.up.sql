-- What:  The first schema: sessions, their event log, what reviews and maps
--        produced, what people noted on it, and the commands that were run.
-- Why:   One file holds the whole truth of a review or a change map.
-- Rows:  None touched; everything is new.
-- Back:  Reversible by removing the file while it is still empty.

CREATE TABLE schema_version (
    -- The shared ledger: one row for each of the migrations 1 to 14, which
    -- every program that writes this file knows by these numbers.
    version INTEGER PRIMARY KEY,
    -- UTC, YYYY-MM-DD HH:MM:SS.
    applied_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- What the step did, in a few words.
    description TEXT NOT NULL
);

CREATE TABLE sessions (
    -- One row is one session: a review with its rounds, or a change map with
    -- its runs. The row is a summary for quick reading; orchestration_events is
    -- the evidence.
    -- Name given by the caller; also the folder name below .ocr/sessions.
    id TEXT PRIMARY KEY,
    -- Git branch under review, as the caller wrote it.
    branch TEXT NOT NULL,
    -- 'closed' says nothing about success: see session_completeness.
    status TEXT NOT NULL DEFAULT 'active'
        CHECK (status IN ('active', 'closed')),
    -- Decides which phases exist, and which event completes a round or run.
    workflow_type TEXT NOT NULL CHECK (workflow_type IN ('review', 'map')),
    -- Phase the session is in, by name.
    current_phase TEXT NOT NULL DEFAULT 'context',
    -- Place of that phase in its workflow, from 1; follows from the name.
    phase_number INTEGER NOT NULL DEFAULT 1,
    -- Review round the session is in, from 1; stays 1 for maps.
    current_round INTEGER NOT NULL DEFAULT 1,
    -- Map run the session is in, from 1; stays 1 for reviews.
    current_map_run INTEGER NOT NULL DEFAULT 1,
    -- UTC, YYYY-MM-DD HH:MM:SS.
    started_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- UTC; last change of this row.
    updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- Folder with the artifacts: absolute, or relative to the project root.
    session_dir TEXT NOT NULL
);

CREATE TABLE orchestration_events (
    -- The event log. Order is the order of id; times have whole seconds only.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
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

CREATE INDEX idx_events_session ON orchestration_events(session_id);

CREATE INDEX idx_events_type ON orchestration_events(event_type);

CREATE TABLE review_rounds (
    -- What one completed review round said; derived from its round-meta.json.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    -- From 1.
    round_number INTEGER NOT NULL,
    -- APPROVE, REQUEST CHANGES or NEEDS DISCUSSION; NULL when not known.
    verdict TEXT,
    -- Effective number of blocking findings.
    blocker_count INTEGER DEFAULT 0,
    -- Effective number of suggestions.
    suggestion_count INTEGER DEFAULT 0,
    -- Effective number of findings that should be fixed.
    should_fix_count INTEGER DEFAULT 0,
    -- Path of final.md; NULL when there is none.
    final_md_path TEXT,
    -- UTC; when the round was read in. NULL when it never was.
    parsed_at TEXT,
    UNIQUE (session_id, round_number)
);

CREATE TABLE reviewer_outputs (
    -- One reviewer's part of a round.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    round_id INTEGER NOT NULL REFERENCES review_rounds(id) ON DELETE CASCADE,
    -- Kind of reviewer, such as architect or security.
    reviewer_type TEXT NOT NULL,
    -- Tells reviewers of one kind apart, from 1.
    instance_number INTEGER NOT NULL DEFAULT 1,
    -- The reviewer's markdown file.
    file_path TEXT NOT NULL,
    -- Findings of this reviewer.
    finding_count INTEGER DEFAULT 0,
    -- UTC; NULL when never read in.
    parsed_at TEXT,
    UNIQUE (round_id, reviewer_type, instance_number)
);

CREATE TABLE review_findings (
    -- One finding of one reviewer.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    reviewer_output_id INTEGER NOT NULL
        REFERENCES reviewer_outputs(id) ON DELETE CASCADE,
    -- One line that names the problem.
    title TEXT NOT NULL,
    severity TEXT NOT NULL
        CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
    -- File concerned; NULL for a finding about the whole change.
    file_path TEXT,
    -- First line, from 1; NULL when none is named.
    line_start INTEGER,
    -- Last line; NULL when none is named.
    line_end INTEGER,
    -- The finding in prose; NULL when there is none.
    summary TEXT,
    -- 1 when the change must not land with it.
    is_blocker INTEGER NOT NULL DEFAULT 0,
    -- UTC; NULL when never read in.
    parsed_at TEXT
);

CREATE INDEX idx_findings_severity ON review_findings(severity);

CREATE TABLE markdown_artifacts (
    -- Text of the markdown files below a session's folder, for reading
    -- without the disk.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    -- Kind of document, such as final or context.
    artifact_type TEXT NOT NULL,
    -- Round or run the document belongs to; NULL for the session as a whole.
    round_number INTEGER,
    file_path TEXT NOT NULL,
    content TEXT NOT NULL,
    -- UTC; when the text was read in.
    parsed_at TEXT NOT NULL DEFAULT (datetime('now')),
    UNIQUE (session_id, artifact_type, round_number, file_path)
);

CREATE TABLE map_runs (
    -- What one completed map run said; derived from its map-meta.json.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    -- From 1.
    run_number INTEGER NOT NULL,
    -- Files over all sections.
    file_count INTEGER DEFAULT 0,
    -- Path of map.md; NULL when there is none.
    map_md_path TEXT,
    -- UTC; NULL when never read in.
    parsed_at TEXT,
    UNIQUE (session_id, run_number)
);

CREATE TABLE map_sections (
    -- One section of a change map.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    map_run_id INTEGER NOT NULL REFERENCES map_runs(id) ON DELETE CASCADE,
    -- Number that the map gives the section.
    section_number INTEGER NOT NULL,
    title TEXT NOT NULL,
    -- NULL when the map gives none.
    description TEXT,
    -- Files in this section.
    file_count INTEGER DEFAULT 0,
    -- Place on the page, from 0.
    display_order INTEGER NOT NULL DEFAULT 0,
    UNIQUE (map_run_id, section_number)
);

CREATE TABLE map_files (
    -- One changed file as a section of the map explains it.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    section_id INTEGER NOT NULL
        REFERENCES map_sections(id) ON DELETE CASCADE,
    file_path TEXT NOT NULL,
    -- What the file does in this change; NULL when not told.
    role TEXT,
    lines_added INTEGER DEFAULT 0,
    lines_deleted INTEGER DEFAULT 0,
    -- Place in its section, from 0.
    display_order INTEGER NOT NULL DEFAULT 0,
    UNIQUE (section_id, file_path)
);

CREATE TABLE user_file_progress (
    -- A person's tick at a file of a map. User data: kept by every repair.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    map_file_id INTEGER NOT NULL
        REFERENCES map_files(id) ON DELETE CASCADE,
    -- 1 when looked at.
    is_reviewed INTEGER NOT NULL DEFAULT 0,
    -- UTC; NULL while not looked at.
    reviewed_at TEXT,
    UNIQUE (map_file_id)
);

CREATE TABLE user_finding_progress (
    -- A person's triage of a finding. User data: kept by every repair.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    finding_id INTEGER NOT NULL
        REFERENCES review_findings(id) ON DELETE CASCADE,
    status TEXT NOT NULL DEFAULT 'unread' CHECK (
        status IN ('unread', 'read', 'acknowledged', 'fixed', 'wont_fix')
    ),
    -- UTC.
    updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    UNIQUE (finding_id)
);

CREATE TABLE user_notes (
    -- Free notes of people. User data: kept by every repair.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- What the note is about.
    target_type TEXT NOT NULL CHECK (
        target_type IN (
            'session', 'round', 'finding', 'run', 'section', 'file'
        )
    ),
    -- Key of that thing as text.
    target_id TEXT NOT NULL,
    content TEXT NOT NULL,
    -- UTC.
    created_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- UTC.
    updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE command_executions (
    -- One row is one command that was started, by whichever program.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Command line or kind of process.
    command TEXT NOT NULL,
    -- Arguments as the writer stored them; NULL when there were none.
    args TEXT,
    -- NULL while running; negative codes say how a row ended without a
    -- result of its own: -2 cancelled, -3 found dead, -4 closed with its
    -- workflow, -5 past its deadline.
    exit_code INTEGER,
    -- UTC.
    started_at TEXT NOT NULL DEFAULT (datetime('now')),
    -- UTC; NULL while running.
    finished_at TEXT,
    -- What the command printed; NULL when not kept.
    output TEXT
);

INSERT INTO schema_version (version, description)
VALUES (1, 'sessions, event log, artifacts, user data, commands');
