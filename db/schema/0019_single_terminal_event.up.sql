-- What:  A round or run is completed once, and only from synthesis.
-- Why:   Two processes that complete the same round at the same time must
--        leave one event; and a terminal event is the one statement that can
--        make a session complete.
-- Rows:  None touched; doubled events of old logs stay.
-- Back:  Reversible by dropping the triggers.

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
