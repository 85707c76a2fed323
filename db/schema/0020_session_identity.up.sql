-- What:  A session is born active, keeps its identity, counts from 1, cannot
--        vanish with its events, and does not move while closed.
-- Why:   Each of these was a way to make unfinished work read as finished, or
--        to lose it, with one plain statement.
-- Rows:  None touched; old rows of any shape stay.
-- Back:  Reversible by dropping the triggers.

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
