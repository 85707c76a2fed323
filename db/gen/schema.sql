-- The whole schema after all steps of db/schema. Made by make generate.

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

CREATE INDEX idx_sessions_status ON sessions(status);

CREATE TRIGGER trg_sessions_close_guard
AFTER UPDATE OF status ON sessions
WHEN NEW.status = 'closed' AND OLD.status <> 'closed'
BEGIN
    -- Closing needs proof: the current round or run is complete, or a reason
    -- is on record that is newer than the last opening of the session. It
    -- runs after the update, so that the view sees the row as it would stand.
    SELECT RAISE(ABORT, 'cannot close session without a completed round/run or an explicit reason event')
    WHERE NOT EXISTS (
        SELECT 1
        FROM session_completeness AS c
        WHERE c.session_id = NEW.id AND c.has_terminal_artifact = 1
    )
    AND NOT EXISTS (
        SELECT 1 FROM valid_reasons AS r WHERE r.session_id = NEW.id
    );
END;

CREATE TRIGGER trg_sessions_born_active
BEFORE INSERT ON sessions
WHEN NEW.status <> 'active'
BEGIN
    -- The way to closed leads past trg_sessions_close_guard.
    SELECT RAISE(ABORT, 'a session is born active');
END;

CREATE TRIGGER trg_sessions_keep_identity
BEFORE UPDATE OF id, workflow_type ON sessions
WHEN NEW.id IS NOT OLD.id OR NEW.workflow_type IS NOT OLD.workflow_type
BEGIN
    SELECT RAISE(ABORT, 'the id and workflow_type of a session never change');
END;

CREATE TRIGGER trg_sessions_keep_rowid
BEFORE UPDATE ON sessions
WHEN NEW.rowid <> OLD.rowid
BEGIN
    -- Moving a row onto another one's place would replace that one.
    SELECT RAISE(ABORT, 'a session keeps its row');
END;

CREATE TRIGGER trg_sessions_numbers_when_born
AFTER INSERT ON sessions
WHEN typeof(NEW.current_round) <> 'integer'
    OR typeof(NEW.current_map_run) <> 'integer'
    OR NEW.current_round < 1
    OR NEW.current_map_run < 1
BEGIN
    SELECT RAISE(ABORT, 'rounds and runs are whole numbers from 1');
END;

CREATE TRIGGER trg_sessions_numbers_when_changed
AFTER UPDATE OF current_round, current_map_run ON sessions
WHEN typeof(NEW.current_round) <> 'integer'
    OR typeof(NEW.current_map_run) <> 'integer'
    OR NEW.current_round < 1
    OR NEW.current_map_run < 1
BEGIN
    -- Text sorts above every number and would outrank the log.
    SELECT RAISE(ABORT, 'rounds and runs are whole numbers from 1');
END;

CREATE TRIGGER trg_sessions_with_events_stay
BEFORE DELETE ON sessions
WHEN EXISTS (
    SELECT 1 FROM orchestration_events AS e WHERE e.session_id = OLD.id
)
BEGIN
    -- The foreign key says the same, but is off at a plain sqlite3 prompt.
    SELECT RAISE(ABORT, 'a session that has events is never deleted');
END;

CREATE TRIGGER trg_sessions_never_replaced
AFTER INSERT ON sessions
WHEN EXISTS (
    SELECT 1 FROM orchestration_events AS e WHERE e.session_id = NEW.id
)
BEGIN
    -- A new session has no events yet: with events it took another's place.
    -- It runs after the insert, so that INSERT OR IGNORE stays harmless.
    SELECT RAISE(ABORT, 'a session that has events is never replaced');
END;

CREATE TRIGGER trg_sessions_rowid_not_taken
BEFORE INSERT ON sessions
WHEN NEW.rowid <> -1 AND EXISTS (
    -- NEW.rowid is -1 when none is given.
    SELECT 1
    FROM sessions AS s
    WHERE s.rowid = NEW.rowid AND s.id IS NOT NEW.id
)
BEGIN
    SELECT RAISE(ABORT, 'a session that has events is never replaced');
END;

CREATE TRIGGER trg_sessions_rowid_minus_one
AFTER INSERT ON sessions
WHEN NEW.rowid = -1
BEGIN
    -- The one row that trg_sessions_rowid_not_taken cannot guard.
    SELECT RAISE(ABORT, 'the row of a session is never numbered -1');
END;

CREATE TRIGGER trg_sessions_closed_stands
BEFORE UPDATE OF current_phase ON sessions
WHEN OLD.status = 'closed'
    AND NEW.status = 'closed'
    AND NEW.current_phase IS NOT OLD.current_phase
    AND NEW.current_phase IS NOT 'complete'
BEGIN
    SELECT RAISE(ABORT, 'a closed session moves only to complete, or when it is re-opened');
END;

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
    parsed_at TEXT, source TEXT DEFAULT NULL /* orchestrator: from the payload */, reviewer_count INTEGER DEFAULT 0 /* reviewers in the round */, total_finding_count INTEGER DEFAULT 0 /* all categories */,
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
, category TEXT DEFAULT NULL /* blocker, should_fix,
        suggestion or style; NULL: unknown, see is_blocker */);

CREATE INDEX idx_findings_severity ON review_findings(severity);

CREATE INDEX idx_findings_output ON review_findings(reviewer_output_id);

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

CREATE UNIQUE INDEX idx_markdown_artifacts_logical
    ON markdown_artifacts(
        session_id, artifact_type, IFNULL(round_number, -1), file_path
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
    parsed_at TEXT, source TEXT DEFAULT NULL /* orchestrator: from the payload */, section_count INTEGER DEFAULT 0 /* sections of the map */,
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
, pid INTEGER /* process id; NULL when unknown or swept */, is_detached INTEGER NOT NULL DEFAULT 0 /* 1: on its own */, uid TEXT /* UUID; NULL for rows older than this column */, workflow_id TEXT REFERENCES sessions(id) ON DELETE RESTRICT
    /* session the process works for; NULL: none */, vendor TEXT /* maker of the agent; NULL: not an agent */, vendor_session_id TEXT /* vendor's name for it; NULL: unbound */, persona TEXT /* role of the agent; NULL: none */, instance_index INTEGER /* tells one persona's agents apart */, name TEXT /* display name; NULL: none */, resolved_model TEXT /* model that answered; NULL: not told */, last_heartbeat_at TEXT /* UTC; NULL: not a journaled process */, notes TEXT /* free text, a line for each thing noted */);

CREATE UNIQUE INDEX idx_command_executions_uid ON command_executions(uid);

CREATE INDEX idx_command_executions_workflow
    ON command_executions(workflow_id);

CREATE INDEX idx_command_executions_heartbeat
    ON command_executions(last_heartbeat_at);

CREATE INDEX idx_command_executions_unfinished
    ON command_executions(last_heartbeat_at)
    WHERE finished_at IS NULL;

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

CREATE TABLE "orchestration_events" (
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

CREATE INDEX idx_events_session ON orchestration_events(session_id);

CREATE INDEX idx_events_type ON orchestration_events(event_type);

CREATE INDEX idx_events_session_created
    ON orchestration_events(session_id, created_at);

CREATE INDEX idx_events_session_type
    ON orchestration_events(session_id, event_type);

CREATE TRIGGER trg_events_known_type
BEFORE INSERT ON orchestration_events
WHEN NEW.event_type NOT IN (
    'session_created', 'session_resumed', 'round_started',
    'phase_transition', 'round_completed', 'map_completed',
    'session_closed', 'session_aborted', 'session_auto_closed_stale',
    'session_synced', 'session_legacy_import'
)
BEGIN
    -- The log has a closed vocabulary, so that readers can rely on it.
    SELECT RAISE(ABORT, 'unknown orchestration_events.event_type');
END;

CREATE TRIGGER trg_events_never_changed
BEFORE UPDATE ON orchestration_events
BEGIN
    -- To correct the record, append a further event.
    SELECT RAISE(ABORT, 'events are never changed: append a new one');
END;

CREATE TRIGGER trg_events_never_deleted
BEFORE DELETE ON orchestration_events
BEGIN
    SELECT RAISE(ABORT, 'events are never deleted');
END;

CREATE TRIGGER trg_events_never_replaced
BEFORE INSERT ON orchestration_events
WHEN NEW.id > 0 AND EXISTS (
    -- REPLACE fires no delete trigger. NEW.id is -1 when none is given, and
    -- an old row of that id must not stop all new ones.
    SELECT 1 FROM orchestration_events AS e WHERE e.id = NEW.id
)
BEGIN
    SELECT RAISE(ABORT, 'events are never replaced');
END;

CREATE TRIGGER trg_events_id_from_one
AFTER INSERT ON orchestration_events
WHEN NEW.id < 1
BEGIN
    -- The log is ordered by id; an id below 1 would stand before its start.
    SELECT RAISE(ABORT, 'event ids start at 1');
END;

CREATE TRIGGER trg_events_id_not_the_last
BEFORE INSERT ON orchestration_events
WHEN NEW.id > 9007199254740991
BEGIN
    -- After the highest id there is none: no event could follow, and this one
    -- could not be taken back. An id that is not given is not looked at.
    SELECT RAISE(ABORT, 'an event id this high leaves no room for the next');
END;

CREATE TRIGGER trg_events_one_terminal
BEFORE INSERT ON orchestration_events
WHEN NEW.event_type IN ('round_completed', 'map_completed')
    AND EXISTS (
        SELECT 1
        FROM orchestration_events AS e
        WHERE e.session_id = NEW.session_id
            AND e.event_type = NEW.event_type
            AND e.round IS NEW.round
    )
BEGIN
    -- Saying it again is no error and changes nothing.
    SELECT RAISE(IGNORE);
END;

CREATE TRIGGER trg_events_terminal_at_synthesis
BEFORE INSERT ON orchestration_events
WHEN NEW.event_type IN ('round_completed', 'map_completed')
    AND EXISTS (
        SELECT 1
        FROM sessions AS s
        WHERE s.id = NEW.session_id
            AND s.status = 'active'
            AND s.current_phase <> 'synthesis'
    )
    AND NOT EXISTS (
        -- A repetition is trg_events_one_terminal's business.
        SELECT 1
        FROM orchestration_events AS e
        WHERE e.session_id = NEW.session_id
            AND e.event_type = NEW.event_type
            AND e.round IS NEW.round
    )
BEGIN
    SELECT RAISE(ABORT, 'an active session is completed from the phase synthesis only');
END;

CREATE TRIGGER trg_events_only_grow
BEFORE INSERT ON orchestration_events
WHEN NEW.id > 0
    AND (
        NEW.id < (SELECT MAX(e.id) FROM orchestration_events AS e)
        OR NEW.id <= (
            -- The highest id that was ever given, also where the log was cut.
            SELECT MAX(q.seq)
            FROM sqlite_sequence AS q
            WHERE q.name = 'orchestration_events'
        )
    )
    AND NOT EXISTS (
        -- An id that is taken is trg_events_never_replaced's business.
        SELECT 1 FROM orchestration_events AS e WHERE e.id = NEW.id
    )
BEGIN
    -- NEW.id is -1 when none is given: the engine then takes the next one.
    SELECT RAISE(ABORT, 'event ids only grow: give none, and the next one is taken');
END;

CREATE TABLE process_identity (
    -- Row of the process journal that this describes.
    execution_id INTEGER PRIMARY KEY
        REFERENCES command_executions(id) ON DELETE CASCADE,
    -- Digest of the machine's own id, the same whatever the host is called.
    -- NULL where the system has none and when it could not be read.
    machine TEXT,
    -- Name of the host; NULL when it could not be read.
    host TEXT,
    -- Changes with every start of the host. Same boot id and pid_space: same
    -- process ids, whatever the host is called. Another boot id on the same
    -- host, outside of containers: everything from before is dead. Any other
    -- difference: somewhere else, and nothing can be told from here. NULL
    -- where the system has none (Windows) and when it could not be read.
    boot_id TEXT,
    -- Which counting of process ids it is: the PID namespace on Linux. NULL
    -- where the system has only one.
    pid_space TEXT,
    -- From which moment starts are counted: the time namespace on Linux.
    -- Starts from two of them are never compared. NULL where there is one.
    time_space TEXT,
    -- Process id that the start below belongs to. The start proves nothing
    -- once the row of the journal has another one.
    pid INTEGER
        CONSTRAINT process_identity_pid_from_one CHECK (pid >= 1),
    -- Start of the process in milliseconds since 1970, as its system tells
    -- it; NULL when no process id was given or it could not be read. Linux
    -- computes it from today's clock: there it is for people only.
    pid_started_ms INTEGER
        CONSTRAINT process_identity_start_after_1970
        CHECK (pid_started_ms >= 1),
    -- The same in hundredths of a second since the start of the host: exact,
    -- and no change of the clock moves it. Linux only, else NULL.
    pid_started_ticks INTEGER
        CONSTRAINT process_identity_start_after_boot
        CHECK (pid_started_ticks >= 1),
    -- Phase the process was started for; NULL when not told.
    phase TEXT
) STRICT;

CREATE VIEW workflow_phases AS
-- The phases of each workflow in order. A session moves to the next one, stays,
-- or, with a new round or run, starts again at number 1.
SELECT 'review' AS workflow_type, 1 AS phase_number, 'context' AS phase
UNION ALL SELECT 'review', 2, 'change-context'
UNION ALL SELECT 'review', 3, 'analysis'
UNION ALL SELECT 'review', 4, 'reviews'
UNION ALL SELECT 'review', 5, 'aggregation'
UNION ALL SELECT 'review', 6, 'discourse'
UNION ALL SELECT 'review', 7, 'synthesis'
UNION ALL SELECT 'review', 8, 'complete'
UNION ALL SELECT 'map', 1, 'map-context'
UNION ALL SELECT 'map', 2, 'topology'
UNION ALL SELECT 'map', 3, 'flow-analysis'
UNION ALL SELECT 'map', 4, 'requirements-mapping'
UNION ALL SELECT 'map', 5, 'synthesis'
UNION ALL SELECT 'map', 6, 'complete';

CREATE VIEW event_facts AS
-- The log with the facts spelled out that stand in metadata or in a column
-- that means different things for different events. One row for each event.
SELECT
    e.id AS event_id,
    e.session_id AS session_id,
    e.event_type AS event_type,
    e.phase AS phase,
    -- Place of that phase; NULL when another program stored no whole number.
    CASE
        WHEN typeof(e.phase_number) = 'integer' THEN e.phase_number
    END AS phase_number,
    -- Review round the event names; NULL when it names none.
    CASE
        WHEN e.event_type = 'map_completed' THEN NULL
        WHEN e.event_type = 'session_synced' THEN
            CASE WHEN json_valid(e.metadata) THEN
                CASE WHEN json_type(e.metadata, '$.round') = 'integer'
                    THEN CAST(json_extract(e.metadata, '$.round') AS INTEGER)
                END
            END
        WHEN typeof(e.round) = 'integer' THEN e.round
    END AS round,
    -- Map run the event names; NULL when it names none.
    CASE
        WHEN e.event_type = 'map_completed' THEN
            CASE WHEN typeof(e.round) = 'integer' THEN e.round END
        WHEN e.event_type IN ('round_started', 'session_synced') THEN
            CASE WHEN json_valid(e.metadata) THEN
                CASE WHEN json_type(e.metadata, '$.map_run') = 'integer'
                    THEN CAST(json_extract(e.metadata, '$.map_run') AS INTEGER)
                END
            END
    END AS map_run,
    -- 1 for a lease: somebody took over the round to carry it on. A lease
    -- opens nothing and moves nothing.
    CASE
        WHEN e.event_type <> 'session_resumed' THEN 0
        WHEN NOT IFNULL(json_valid(e.metadata), 0) THEN 0
        WHEN json_extract(e.metadata, '$.kind') = 'forward_resume' THEN 1
        ELSE 0
    END AS is_lease,
    e.metadata AS metadata,
    e.created_at AS created_at,
    -- The same instant in seconds since 1970; NULL when the text is no time.
    CASE
        WHEN e.created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN CAST(unixepoch(e.created_at) AS INTEGER)
    END AS at_epoch
FROM orchestration_events AS e;

CREATE VIEW opening_events AS
-- Events that open a session, a round or a run.
SELECT
    f.event_id AS event_id,
    f.session_id AS session_id,
    f.event_type AS event_type,
    f.round AS round,
    f.map_run AS map_run,
    f.created_at AS created_at
FROM event_facts AS f
WHERE f.event_type IN ('session_created', 'session_resumed', 'round_started')
    AND f.is_lease = 0;

CREATE VIEW closing_events AS
-- Events that close a session. A reason event closes without a result.
SELECT
    e.id AS event_id,
    e.session_id AS session_id,
    e.event_type AS event_type,
    CASE WHEN e.event_type = 'session_closed' THEN 0 ELSE 1 END AS is_reason,
    e.created_at AS created_at
FROM orchestration_events AS e
WHERE e.event_type IN (
    'session_closed', 'session_aborted', 'session_auto_closed_stale',
    'session_synced', 'session_legacy_import'
);

CREATE VIEW valid_reasons AS
-- Reason events that still count: newer than the last opening of their
-- session. An old abort says nothing about a session that was opened again.
SELECT
    r.session_id AS session_id,
    r.event_id AS event_id,
    r.event_type AS event_type
FROM closing_events AS r
WHERE r.is_reason = 1
    AND +r.event_id > IFNULL((
        SELECT MAX(+o.event_id)
        FROM opening_events AS o
        WHERE o.session_id = r.session_id
    ), 0);

CREATE VIEW session_current AS
-- The current round (review) and run (map): the larger of the row's number
-- and the highest that the log has opened. Completion, closing and every verb
-- go by these numbers.
SELECT
    s.id AS session_id,
    s.workflow_type AS workflow_type,
    CAST(CASE
        WHEN s.workflow_type <> 'review' THEN s.current_round
        ELSE MAX(
            1,
            CASE typeof(s.current_round)
                WHEN 'integer' THEN s.current_round ELSE 1
            END,
            IFNULL((
                SELECT MAX(o.round)
                FROM opening_events AS o
                WHERE o.session_id = s.id
            ), 1)
        )
    END AS INTEGER) AS current_round,
    CAST(CASE
        WHEN s.workflow_type <> 'map' THEN s.current_map_run
        ELSE MAX(
            1,
            CASE typeof(s.current_map_run)
                WHEN 'integer' THEN s.current_map_run ELSE 1
            END,
            IFNULL((
                SELECT MAX(o.map_run)
                FROM opening_events AS o
                WHERE o.session_id = s.id
            ), 1),
            IFNULL((
                -- A move to map-context after a completed run opens the next.
                SELECT MAX(m.map_run) + 1
                FROM event_facts AS m
                WHERE m.session_id = s.id
                    AND m.event_type = 'map_completed'
                    AND EXISTS (
                        SELECT 1
                        FROM orchestration_events AS t
                        WHERE t.session_id = s.id
                            AND t.event_type = 'phase_transition'
                            AND t.phase = 'map-context'
                            AND +t.id > m.event_id
                    )
            ), 1)
        )
    END AS INTEGER) AS current_map_run
FROM sessions AS s;

CREATE VIEW session_idle AS
-- When something last happened in each session: its newest event, or, where
-- the log is empty, the last change of its row.
SELECT
    t.session_id AS session_id,
    -- NULL where the log is empty.
    t.last_event_id AS last_event_id,
    t.last_at AS last_at,
    -- The same instant in seconds since 1970; NULL when the text is no time.
    CASE
        WHEN t.last_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN CAST(unixepoch(t.last_at) AS INTEGER)
    END AS last_epoch
FROM (
    SELECT
        s.id AS session_id,
        e.id AS last_event_id,
        CAST(IFNULL(e.created_at, s.updated_at) AS TEXT) AS last_at
    FROM sessions AS s
    LEFT JOIN orchestration_events AS e ON e.id = (
        SELECT MAX(n.id)
        FROM orchestration_events AS n
        WHERE n.session_id = s.id
    )
) AS t;

CREATE VIEW session_completeness AS
-- Whether a session is really finished. The one definition of completion.
SELECT
    p.session_id AS session_id,
    p.workflow_type AS workflow_type,
    p.status AS status,
    p.current_round AS current_round,
    p.current_map_run AS current_map_run,
    p.has_terminal_artifact AS has_terminal_artifact,
    p.marked_closed AS marked_closed,
    p.dependents_settled AS dependents_settled,
    CASE
        WHEN p.marked_closed = 1 AND p.has_terminal_artifact = 1
            THEN 'complete'
        WHEN p.marked_closed = 1 THEN 'closed_without_artifact'
        WHEN p.dependents_settled = 0 THEN 'in_flight'
        ELSE 'open_no_artifact'
    END AS completeness_state
FROM (
    SELECT
        s.id AS session_id,
        s.workflow_type AS workflow_type,
        s.status AS status,
        c.current_round AS current_round,
        c.current_map_run AS current_map_run,
        -- 1 when the log holds the event that completes the current round
        -- or run.
        CASE WHEN EXISTS (
            SELECT 1
            FROM orchestration_events AS e
            WHERE e.session_id = s.id
                AND e.event_type = CASE s.workflow_type
                    WHEN 'map' THEN 'map_completed' ELSE 'round_completed'
                END
                AND e.round = CASE s.workflow_type
                    WHEN 'map' THEN c.current_map_run ELSE c.current_round
                END
        ) THEN 1 ELSE 0 END AS has_terminal_artifact,
        CASE WHEN s.status = 'closed' THEN 1 ELSE 0 END AS marked_closed,
        -- 1 when no process of the session is unfinished.
        CASE WHEN EXISTS (
            SELECT 1
            FROM command_executions AS x
            WHERE x.workflow_id = s.id AND x.finished_at IS NULL
        ) THEN 0 ELSE 1 END AS dependents_settled
    FROM sessions AS s
    INNER JOIN session_current AS c ON c.session_id = s.id
) AS p;

CREATE VIEW session_projection AS
-- The state of each session as its log tells it. NULL: the log is silent.
WITH marks AS (
    -- Newest event of each kind that matters; 0 when there is none.
    SELECT
        s.id AS session_id,
        s.workflow_type AS workflow_type,
        IFNULL((
            SELECT MAX(+o.event_id)
            FROM opening_events AS o
            WHERE o.session_id = s.id
        ), 0) AS opened_id,
        IFNULL((
            SELECT MAX(+e.id)
            FROM orchestration_events AS e
            WHERE e.session_id = s.id AND e.event_type = 'phase_transition'
        ), 0) AS moved_id,
        IFNULL((
            SELECT MAX(+c.event_id)
            FROM closing_events AS c
            WHERE c.session_id = s.id
        ), 0) AS closed_id,
        IFNULL((
            SELECT MAX(+e.id)
            FROM orchestration_events AS e
            WHERE e.session_id = s.id AND e.event_type = 'session_synced'
        ), 0) AS synced_id,
        IFNULL((
            SELECT MAX(+f.event_id)
            FROM event_facts AS f
            WHERE f.session_id = s.id
                AND f.event_type IN (
                    'round_started', 'map_completed', 'session_synced'
                )
                AND f.map_run IS NOT NULL
        ), 0) AS run_id
    FROM sessions AS s
)
SELECT
    m.session_id AS session_id,
    m.workflow_type AS workflow_type,
    CASE
        WHEN m.closed_id > m.opened_id THEN 'closed'
        WHEN m.opened_id > 0 THEN 'active'
    END AS status,
    CASE
        WHEN m.closed_id > MAX(m.opened_id, m.moved_id)
            AND m.closed_id <> m.synced_id THEN 'complete'
        ELSE (
            SELECT e.phase
            FROM orchestration_events AS e
            WHERE e.id = MAX(m.opened_id, m.moved_id, m.closed_id)
        )
    END AS phase,
    CAST(IFNULL(
        (
            -- A close that gives no number leaves the one before.
            SELECT e.phase_number
            FROM closing_events AS d
            INNER JOIN orchestration_events AS e ON e.id = d.event_id
            WHERE d.session_id = m.session_id
                AND +d.event_id > MAX(m.opened_id, m.moved_id)
                AND e.phase_number IS NOT NULL
            ORDER BY +d.event_id DESC
            LIMIT 1
        ),
        (
            SELECT e.phase_number
            FROM orchestration_events AS e
            WHERE e.id = MAX(m.opened_id, m.moved_id)
        )
    ) AS INTEGER) AS phase_number,
    -- Rounds belong to reviews; a map stays at 1.
    CASE
        WHEN m.workflow_type = 'map' THEN CASE WHEN m.opened_id > 0 THEN 1 END
        ELSE (
            -- Where the session was moved to last, or what it completed since.
            SELECT MAX(r.round)
            FROM (
                SELECT f.round AS round
                FROM event_facts AS f
                WHERE f.event_id = MAX(m.opened_id, m.moved_id, m.synced_id)
                UNION ALL
                SELECT d.round
                FROM event_facts AS d
                WHERE d.session_id = m.session_id
                    AND d.event_type = 'round_completed'
                    AND +d.event_id
                        > MAX(m.opened_id, m.moved_id, m.synced_id)
            ) AS r
        )
    END AS round,
    -- Runs belong to maps; a review stays at 1.
    CASE
        WHEN m.workflow_type = 'map' AND m.run_id > 0 THEN (
            SELECT f.map_run + (
                f.event_type = 'map_completed' AND EXISTS (
                    SELECT 1
                    FROM orchestration_events AS t
                    WHERE t.session_id = m.session_id
                        AND t.event_type = 'phase_transition'
                        AND t.phase = 'map-context'
                        AND +t.id > m.run_id
                )
            )
            FROM event_facts AS f
            WHERE f.event_id = m.run_id
        )
        WHEN m.opened_id > 0 THEN 1
    END AS map_run,
    -- When the current round was first opened; NULL for maps. LIMIT has the
    -- number worked out once, not for every event that is compared with it.
    CASE WHEN m.workflow_type = 'review' THEN (
        SELECT o.created_at
        FROM (
            SELECT c.current_round AS current_round
            FROM session_current AS c
            WHERE c.session_id = m.session_id
            LIMIT 1
        ) AS n
        CROSS JOIN opening_events AS o
        WHERE o.session_id = m.session_id AND o.round = n.current_round
        ORDER BY +o.event_id
        LIMIT 1
    ) END AS round_started_at,
    -- When the current run was first opened; NULL for reviews.
    CASE WHEN m.workflow_type = 'map' THEN (
        SELECT f.created_at
        FROM (
            SELECT
                c.current_map_run AS current_map_run,
                -- End of the run before; NULL when it never ended.
                (
                    SELECT MIN(+d.id)
                    FROM orchestration_events AS d
                    WHERE d.session_id = c.session_id
                        AND d.event_type = 'map_completed'
                        AND d.round = c.current_map_run - 1
                ) AS ended_id
            FROM session_current AS c
            WHERE c.session_id = m.session_id
            LIMIT 1
        ) AS n
        CROSS JOIN event_facts AS f
        WHERE f.session_id = m.session_id
            AND (
                (n.current_map_run = 1 AND f.event_type = 'session_created')
                OR (
                    f.event_type = 'round_started'
                    AND f.map_run = n.current_map_run
                )
                OR (
                    f.event_type = 'phase_transition'
                    AND f.phase = 'map-context'
                    AND +f.event_id > n.ended_id
                )
            )
        ORDER BY +f.event_id
        LIMIT 1
    ) END AS map_started_at
FROM marks AS m;

CREATE VIEW session_drift AS
-- One row for each field in which a session's row and its log disagree. A
-- number above the log is none: other programs count what is on disk.
SELECT
    s.id AS session_id,
    'status' AS field,
    s.status AS row_value,
    p.status AS log_value
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE p.status <> s.status
UNION ALL
SELECT s.id, 'current_phase', s.current_phase, p.phase
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE s.status = 'active' AND p.phase <> s.current_phase
UNION ALL
SELECT
    s.id, 'current_round',
    CAST(s.current_round AS TEXT), CAST(p.round AS TEXT)
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE s.workflow_type = 'review' AND s.current_round < p.round
UNION ALL
SELECT
    s.id, 'current_map_run',
    CAST(s.current_map_run AS TEXT), CAST(p.map_run AS TEXT)
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE s.workflow_type = 'map' AND s.current_map_run < p.map_run;

CREATE VIEW session_timeline AS
-- Every event in order, with the round and run in which it happened.
SELECT
    o.event_id AS event_id,
    o.session_id AS session_id,
    o.created_at AS created_at,
    o.at_epoch AS at_epoch,
    o.event_type AS event_type,
    o.phase AS phase,
    o.phase_number AS phase_number,
    o.round AS round,
    -- Map run: the highest that the log has named or opened so far. NULL for
    -- reviews.
    CASE WHEN o.workflow_type = 'map' THEN CAST(MAX(
        1,
        IFNULL(MAX(o.named_run) OVER w, 1),
        IFNULL(MAX(
            -- A move to map-context after a completed run opens the next.
            CASE WHEN o.event_type = 'phase_transition'
                AND o.phase = 'map-context'
                THEN o.completed_run + 1
            END
        ) OVER w, 1)
    ) AS INTEGER) END AS map_run,
    o.is_lease AS is_lease,
    o.metadata AS metadata
FROM (
    SELECT
        f.event_id AS event_id,
        f.session_id AS session_id,
        f.created_at AS created_at,
        f.at_epoch AS at_epoch,
        f.event_type AS event_type,
        f.phase AS phase,
        f.phase_number AS phase_number,
        f.round AS round,
        f.is_lease AS is_lease,
        f.metadata AS metadata,
        s.workflow_type AS workflow_type,
        -- A move to map-context belongs to the run that opens right after.
        IFNULL(f.map_run, CASE
            WHEN f.event_type = 'phase_transition'
                AND f.phase = 'map-context'
                THEN LEAD(
                    CASE WHEN f.event_type = 'round_started'
                        THEN f.map_run
                    END
                ) OVER v
        END) AS named_run,
        MAX(
            CASE WHEN f.event_type = 'map_completed' THEN f.map_run END
        ) OVER v AS completed_run
    FROM event_facts AS f
    INNER JOIN sessions AS s ON s.id = f.session_id
    WINDOW v AS (PARTITION BY f.session_id ORDER BY f.event_id)
) AS o
WINDOW w AS (PARTITION BY o.session_id ORDER BY o.event_id);

CREATE VIEW phase_timings AS
-- One row for each visit of a phase. Consecutive events of one phase and
-- round (map: run) are one visit; closing the session ends it. Leases move
-- nothing, nor does the event that completes a round or run.
WITH steps AS (
    SELECT
        t.session_id AS session_id,
        t.event_id AS event_id,
        t.phase AS phase,
        t.phase_number AS phase_number,
        t.round AS round,
        t.map_run AS map_run,
        CASE WHEN t.map_run IS NULL THEN t.round ELSE t.map_run END AS number,
        t.created_at AS created_at,
        t.at_epoch AS at_epoch,
        EXISTS (
            SELECT 1 FROM closing_events AS c WHERE c.event_id = t.event_id
        ) AS closes
    FROM session_timeline AS t
    WHERE t.is_lease = 0
        AND t.event_type NOT IN ('round_completed', 'map_completed')
),
linked AS (
    SELECT
        s.session_id AS session_id,
        s.event_id AS event_id,
        s.phase AS phase,
        s.phase_number AS phase_number,
        s.round AS round,
        s.map_run AS map_run,
        s.created_at AS created_at,
        s.at_epoch AS at_epoch,
        s.closes AS closes,
        LAG(s.closes, 1, 1) OVER w AS closed_before,
        LAG(s.phase) OVER w IS s.phase
            AND LAG(s.number) OVER w IS s.number AS stays
    FROM steps AS s
    WINDOW w AS (PARTITION BY s.session_id ORDER BY s.event_id)
),
edges AS (
    -- Where a visit begins, and the first close after it.
    SELECT
        l.session_id AS session_id,
        l.phase AS phase,
        l.phase_number AS phase_number,
        l.round AS round,
        l.map_run AS map_run,
        l.created_at AS created_at,
        l.at_epoch AS at_epoch,
        l.closes AS closes,
        SUM(l.closes = 0) OVER w AS visit,
        LEAD(l.created_at) OVER w AS left_at,
        LEAD(l.at_epoch) OVER w AS left_epoch
    FROM linked AS l
    WHERE l.closes <> l.closed_before
        OR (l.closes = 0 AND l.stays = 0)
    WINDOW w AS (PARTITION BY l.session_id ORDER BY l.event_id)
)
SELECT
    e.session_id AS session_id,
    -- Counts the visits of a session, from 1.
    CAST(e.visit AS INTEGER) AS visit,
    e.phase AS phase,
    e.phase_number AS phase_number,
    e.round AS round,
    e.map_run AS map_run,
    e.created_at AS entered_at,
    e.left_at AS left_at,
    -- NULL while the visit lasts, and when a time is unreadable; a clock that
    -- went backwards gives 0.
    CASE
        WHEN e.left_epoch - e.at_epoch < 0 THEN 0
        ELSE e.left_epoch - e.at_epoch
    END AS seconds
FROM edges AS e
WHERE e.closes = 0;

CREATE VIEW open_findings AS
-- Findings of the latest completed round of each session, without those that
-- a person has marked as fixed or as not to be fixed.
SELECT
    r.session_id AS session_id,
    r.round_number AS round,
    f.id AS finding_id,
    o.reviewer_type || '-' || o.instance_number AS reviewer,
    -- Another writer may have read the round in without categories.
    CASE
        WHEN f.category IS NOT NULL THEN f.category
        WHEN f.is_blocker = 1 THEN 'blocker'
        ELSE 'suggestion'
    END AS category,
    f.severity AS severity,
    f.title AS title,
    f.file_path AS file_path,
    f.line_start AS line_start,
    f.line_end AS line_end,
    f.summary AS summary,
    -- unread while nobody has looked at it.
    CASE WHEN p.status IS NULL THEN 'unread' ELSE p.status END AS triage
FROM review_rounds AS r
INNER JOIN reviewer_outputs AS o ON o.round_id = r.id
INNER JOIN review_findings AS f ON f.reviewer_output_id = o.id
LEFT JOIN user_finding_progress AS p ON p.finding_id = f.id
WHERE r.round_number = (
        SELECT MAX(e.round)
        FROM orchestration_events AS e
        WHERE e.session_id = r.session_id
            AND e.event_type = 'round_completed'
            AND typeof(e.round) = 'integer'
    )
    AND IFNULL(p.status, '') NOT IN ('fixed', 'wont_fix');

CREATE VIEW orphan_artifacts AS
-- Derived rows of sessions that are not there, on which nothing hangs: neither
-- other derived rows nor what people wrote. To take one away may leave what it
-- hung on without anything, which then stands here too.
SELECT 'review_findings' AS table_name, f.id AS row_id
FROM review_findings AS f
WHERE NOT EXISTS (
        SELECT 1
        FROM reviewer_outputs AS o
        INNER JOIN review_rounds AS r ON r.id = o.round_id
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE o.id = f.reviewer_output_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_finding_progress AS p
        WHERE p.finding_id = f.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'finding' AND n.target_id = CAST(f.id AS TEXT)
    )
UNION ALL
SELECT 'reviewer_outputs', o.id
FROM reviewer_outputs AS o
WHERE NOT EXISTS (
        SELECT 1
        FROM review_rounds AS r
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE r.id = o.round_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM review_findings AS f
        WHERE f.reviewer_output_id = o.id
    )
UNION ALL
SELECT 'review_rounds', r.id
FROM review_rounds AS r
WHERE NOT EXISTS (
        SELECT 1
        FROM sessions AS s
        WHERE s.id = r.session_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM reviewer_outputs AS o
        WHERE o.round_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_round_progress AS p
        WHERE p.round_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM chat_conversations AS c
        WHERE c.target_type = 'review_round' AND c.target_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'round' AND n.target_id = CAST(r.id AS TEXT)
    )
UNION ALL
SELECT 'map_files', f.id
FROM map_files AS f
WHERE NOT EXISTS (
        SELECT 1
        FROM map_sections AS x
        INNER JOIN map_runs AS r ON r.id = x.map_run_id
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE x.id = f.section_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_file_progress AS p
        WHERE p.map_file_id = f.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'file' AND n.target_id = CAST(f.id AS TEXT)
    )
UNION ALL
SELECT 'map_sections', x.id
FROM map_sections AS x
WHERE NOT EXISTS (
        SELECT 1
        FROM map_runs AS r
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE r.id = x.map_run_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM map_files AS f
        WHERE f.section_id = x.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'section' AND n.target_id = CAST(x.id AS TEXT)
    )
UNION ALL
SELECT 'map_runs', r.id
FROM map_runs AS r
WHERE NOT EXISTS (
        SELECT 1
        FROM sessions AS s
        WHERE s.id = r.session_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM map_sections AS x
        WHERE x.map_run_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM chat_conversations AS c
        WHERE c.target_type = 'map_run' AND c.target_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'run' AND n.target_id = CAST(r.id AS TEXT)
    )
UNION ALL
SELECT 'markdown_artifacts', m.id
FROM markdown_artifacts AS m
WHERE NOT EXISTS (
    SELECT 1
    FROM sessions AS s
    WHERE s.id = m.session_id
);

CREATE VIEW leases AS
-- Every lease that the log knows: somebody took over a round (map: run) to
-- carry it on. Its metadata names round, owner, token and lease_seconds; what
-- another program left out, or wrote wrongly, is NULL or the default here.
WITH taken AS (
    SELECT
        f.event_id AS event_id,
        f.session_id AS session_id,
        f.created_at AS taken_at,
        CASE WHEN f.is_lease = 1 THEN
            CASE WHEN json_type(f.metadata, '$.round') = 'integer'
                THEN json_extract(f.metadata, '$.round')
            END
        END AS round,
        CASE WHEN f.is_lease = 1 THEN
            CASE WHEN json_type(f.metadata, '$.owner') = 'text'
                THEN NULLIF(json_extract(f.metadata, '$.owner'), '')
            END
        END AS owner,
        CASE
            WHEN f.is_lease <> 1 THEN NULL
            WHEN IFNULL(json_type(f.metadata, '$.lease_seconds'), '')
                <> 'integer' THEN 1800
            WHEN json_extract(f.metadata, '$.lease_seconds') < 1 THEN 1800
            ELSE MIN(json_extract(f.metadata, '$.lease_seconds'), 2592000)
        END AS lease_seconds
    FROM event_facts AS f
    WHERE f.event_type = 'session_resumed'
        AND f.is_lease = 1
),
placed AS (
    SELECT
        t.event_id AS event_id,
        t.session_id AS session_id,
        s.workflow_type AS workflow_type,
        s.status AS session_status,
        t.taken_at AS taken_at,
        t.round AS round,
        t.owner AS owner,
        t.lease_seconds AS lease_seconds,
        -- Of the current round or run. A map's lease names current_round: its
        -- run is the highest that the log had opened, or the one after the
        -- last completed.
        CASE
            WHEN t.round IS NOT c.current_round THEN 0
            WHEN s.workflow_type = 'review' THEN 1
            WHEN MAX(
                1,
                IFNULL((
                    SELECT MAX(o.map_run)
                    FROM opening_events AS o
                    WHERE o.session_id = t.session_id
                        AND +o.event_id < t.event_id
                ), 1),
                IFNULL((
                    SELECT MAX(d.map_run) + 1
                    FROM event_facts AS d
                    WHERE d.session_id = t.session_id
                        AND d.event_type = 'map_completed'
                        AND +d.event_id < t.event_id
                ), 1)
            ) >= c.current_map_run THEN 1
            ELSE 0
        END AS is_of_current
    FROM taken AS t
    INNER JOIN sessions AS s ON s.id = t.session_id
    INNER JOIN session_current AS c ON c.session_id = t.session_id
),
judged AS (
    SELECT
        p.event_id AS event_id,
        p.session_id AS session_id,
        p.workflow_type AS workflow_type,
        p.session_status AS session_status,
        p.taken_at AS taken_at,
        p.round AS round,
        p.owner AS owner,
        p.lease_seconds AS lease_seconds,
        -- A round that was closed because its attempts were used up, and was
        -- opened again, counts anew.
        CASE
            WHEN p.is_of_current = 0 THEN 0
            WHEN p.event_id > IFNULL((
                SELECT MAX(+z.event_id)
                FROM event_facts AS z
                WHERE z.session_id = p.session_id
                    AND z.event_type = 'session_auto_closed_stale'
                    AND CASE WHEN json_valid(z.metadata)
                        THEN json_extract(z.metadata, '$.reason')
                    END = 'forward_resume_exhausted'
            ), 0) THEN 1
            ELSE 0
        END AS is_attempt,
        CASE
            WHEN p.is_of_current = 0 THEN 0
            WHEN p.event_id <= IFNULL((
                SELECT MAX(+o.event_id)
                FROM opening_events AS o
                WHERE o.session_id = p.session_id
            ), 0) THEN 0
            WHEN EXISTS (
                SELECT 1
                FROM event_facts AS n
                WHERE n.session_id = p.session_id
                    AND n.event_type = 'session_resumed'
                    AND n.is_lease = 1
                    AND +n.event_id > p.event_id
                    AND CASE WHEN n.is_lease = 1
                        THEN json_extract(n.metadata, '$.round')
                    END = p.round
            ) THEN 0
            ELSE 1
        END AS is_newest,
        -- The holder's steps name the lease. A lease without an owner has no
        -- token to show: any event of its session is its sign of life.
        CASE
            WHEN p.owner IS NOT NULL THEN IFNULL((
                SELECT MAX(+m.id)
                FROM orchestration_events AS m
                WHERE m.session_id = p.session_id
                    AND m.event_type = 'phase_transition'
                    AND +m.id > p.event_id
                    AND CASE WHEN json_valid(m.metadata)
                        THEN json_extract(m.metadata, '$.lease')
                    END = p.event_id
            ), p.event_id)
            ELSE (
                SELECT MAX(a.id)
                FROM orchestration_events AS a
                WHERE a.session_id = p.session_id
            )
        END AS last_sign_id
    FROM placed AS p
),
signed AS (
    SELECT
        j.event_id AS event_id,
        j.session_id AS session_id,
        j.workflow_type AS workflow_type,
        j.session_status AS session_status,
        j.taken_at AS taken_at,
        j.round AS round,
        j.owner AS owner,
        j.lease_seconds AS lease_seconds,
        j.is_attempt AS is_attempt,
        j.is_newest AS is_newest,
        j.last_sign_id AS last_sign_id,
        e.created_at AS last_sign_at,
        e.at_epoch AS last_sign_epoch,
        -- A holder that goes on after its process had ended is there after all.
        CASE WHEN EXISTS (
            SELECT 1
            FROM command_executions AS x
            WHERE x.uid = j.owner
                AND x.finished_at
                GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
                AND unixepoch(x.finished_at) > e.at_epoch
        ) THEN 1 ELSE 0 END AS owner_ended
    FROM judged AS j
    INNER JOIN event_facts AS e ON e.event_id = j.last_sign_id
)
SELECT
    j.session_id AS session_id,
    j.workflow_type AS workflow_type,
    -- The event session_resumed that is the lease.
    j.event_id AS event_id,
    -- Review round; of a map the number that current_round had.
    j.round AS round,
    -- Uid of the owner's row in command_executions, or a name for people where
    -- it has none; NULL when another program took the lease. Such a lease
    -- keeps others from taking the round over, and from nothing else.
    j.owner AS owner,
    -- How long the lease lasts after its last sign of life, as it says itself:
    -- 1800 where it says nothing, 30 days at most.
    CAST(j.lease_seconds AS INTEGER) AS lease_seconds,
    j.taken_at AS taken_at,
    -- Its own event, or the newest that was appended with it.
    CAST(j.last_sign_id AS INTEGER) AS last_sign_id,
    j.last_sign_at AS last_sign_at,
    -- The same instant in seconds since 1970; NULL when the text is no time.
    j.last_sign_epoch AS last_sign_epoch,
    -- Where it ends, UTC, if nothing more happens: the last sign of life plus
    -- lease_seconds. A sign ahead of now counts as now. NULL when the time of
    -- that sign cannot be read.
    datetime(
        MIN(j.last_sign_epoch, unixepoch('now')) + j.lease_seconds,
        'unixepoch'
    ) AS until,
    -- 1 for the newest lease of the current round or run since that was last
    -- opened: the only one that can be in force, and whose token counts.
    CAST(j.is_newest AS INTEGER) AS is_newest,
    -- 1 when it counts against the limit of attempts.
    CAST(j.is_attempt AS INTEGER) AS is_attempt,
    -- 1 when the owner's process has ended since the last sign of life.
    CAST(j.owner_ended AS INTEGER) AS owner_ended,
    -- 1 while nobody else may carry the round on, by this machine's clock;
    -- NULL when the time of the last sign cannot be read. A living row of a
    -- dead process does not show here: ocr session list proves that.
    CASE
        WHEN j.is_newest = 0 OR j.session_status <> 'active' THEN 0
        WHEN j.owner_ended = 1 THEN 0
        ELSE j.last_sign_epoch + j.lease_seconds > unixepoch('now')
    END AS in_force
FROM signed AS j;

CREATE VIEW agent_journal AS
-- One row for each recorded process, finished or not. Whole numbers that other
-- programs stored as something else are NULL here.
SELECT
    x.id AS execution_id,
    -- Name for callers: the uid, or the row's number where there is none.
    CAST(IFNULL(NULLIF(x.uid, ''), x.id) AS TEXT) AS id,
    CAST(IFNULL(x.workflow_id, '') AS TEXT) AS workflow_id,
    CAST(IFNULL(x.vendor, '') AS TEXT) AS vendor,
    x.vendor_session_id AS vendor_session_id,
    x.persona AS persona,
    CASE
        WHEN typeof(x.instance_index) = 'integer' THEN x.instance_index
    END AS instance_index,
    x.name AS name,
    x.resolved_model AS resolved_model,
    i.phase AS phase,
    -- How the process ended, or that it has not.
    CASE
        WHEN x.finished_at IS NULL THEN 'running'
        WHEN x.exit_code = -3 THEN 'orphaned'
        WHEN x.exit_code IN (-2, -4) THEN 'cancelled'
        WHEN x.exit_code = 0 THEN 'done'
        ELSE 'crashed'
    END AS status,
    -- An instance works for a supervisor; a utility keeps no heartbeat.
    CASE
        WHEN x.command = 'session-instance'
            OR substr(x.command, 1, 17) = 'session-instance:' THEN 'instance'
        WHEN x.last_heartbeat_at IS NOT NULL THEN 'supervisor'
        ELSE 'utility'
    END AS kind,
    CASE WHEN typeof(x.pid) = 'integer' THEN x.pid END AS pid,
    x.started_at AS started_at,
    x.last_heartbeat_at AS last_heartbeat_at,
    -- The last heartbeat in seconds since 1970; NULL without one, and when the
    -- text is not a valid timestamp. Its age is unixepoch('now') minus this.
    CASE
        WHEN x.last_heartbeat_at
            GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN CAST(unixepoch(x.last_heartbeat_at) AS INTEGER)
    END AS heartbeat_epoch,
    x.finished_at AS ended_at,
    CASE
        WHEN typeof(x.exit_code) = 'integer' THEN x.exit_code
    END AS exit_code,
    x.notes AS notes,
    -- The later one of start and last heartbeat, in seconds since 1970; NULL
    -- when either is not a valid timestamp. A process that started well after
    -- it is not the one that was recorded.
    CASE
        WHEN x.started_at
            GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            AND x.last_heartbeat_at
            GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN MAX(
                unixepoch(x.started_at), unixepoch(x.last_heartbeat_at)
            )
    END AS last_sign_epoch,
    -- Where the process was recorded, and the start of the process that had
    -- the id then; all NULL when another program wrote the row.
    i.machine AS machine,
    i.host AS host,
    i.boot_id AS boot_id,
    i.pid_space AS pid_space,
    i.time_space AS time_space,
    i.pid AS recorded_pid,
    i.pid_started_ms AS pid_started_ms,
    i.pid_started_ticks AS pid_started_ticks
FROM command_executions AS x
LEFT JOIN process_identity AS i ON i.execution_id = x.id;

CREATE VIEW session_verdict AS
-- What the latest completed round of each session said, from the event that
-- completed it; the first one where an old log has several. One row for each
-- session; NULL in all three columns for a map and while no round is complete.
SELECT
    s.id AS session_id,
    -- The round that is meant.
    c.round AS round,
    -- APPROVE, REQUEST CHANGES or NEEDS DISCUSSION; NULL when the event does
    -- not say, as one that was made from final.md.
    CASE WHEN json_valid(c.metadata) THEN
        CASE WHEN json_type(c.metadata, '$.verdict') = 'text'
            THEN CAST(json_extract(c.metadata, '$.verdict') AS TEXT)
        END
    END AS verdict,
    -- Findings that must be resolved first; NULL when the event does not say.
    CASE WHEN json_valid(c.metadata) THEN
        CASE WHEN json_type(c.metadata, '$.blocker_count') = 'integer'
            THEN CAST(json_extract(c.metadata, '$.blocker_count') AS INTEGER)
        END
    END AS blocker_count
FROM sessions AS s
LEFT JOIN orchestration_events AS c ON c.id = (
    SELECT e.id
    FROM orchestration_events AS e
    WHERE e.session_id = s.id
        AND e.event_type = 'round_completed'
        AND typeof(e.round) = 'integer'
        AND s.workflow_type = 'review'
    ORDER BY e.round DESC, +e.id
    LIMIT 1
);
