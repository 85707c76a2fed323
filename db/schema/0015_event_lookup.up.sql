-- What:  An index to find the events of one kind in one session.
-- Why:   Completion, the current round and leases are each read from a few
--        kinds of events; without it a long log is walked for every status.
-- Rows:  None touched.
-- Back:  Reversible by dropping the index.

CREATE INDEX idx_events_session_type
    ON orchestration_events(session_id, event_type);
