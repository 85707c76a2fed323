-- What:  An event, once written, stays as it is.
-- Why:   Completion is derived from the log; a log that can be edited proves
--        nothing.
-- Rows:  None touched; old rows of any shape stay.
-- Back:  Reversible by dropping the triggers.

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
