-- What:  An event is written behind all others.
-- Why:   The order of ids is the order of writing. An id that is given by hand
--        could put an event between others, or into a gap that a cut log left.
-- Rows:  None touched; old logs of any order stay.
-- Back:  Reversible by dropping the trigger.

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
