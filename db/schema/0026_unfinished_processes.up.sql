-- What:  Finds the unfinished processes by their last heartbeat.
-- Why:   Every start of a process looks for dead ones. The shared index on
--        the heartbeat leads through all that ever ran.
-- Rows:  None touched; one new index.
-- Back:  Reversible by dropping the index; sweeps become slow.

CREATE INDEX idx_command_executions_unfinished
    ON command_executions(last_heartbeat_at)
    WHERE finished_at IS NULL;
