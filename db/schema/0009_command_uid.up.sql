-- What:  A name for a command that is the same on every machine.
-- Why:   Row numbers differ between files; recovery needs a stable key.
-- Rows:  None touched; old rows get NULL.
-- Back:  Reversible by dropping the index and the column.

ALTER TABLE command_executions
    ADD COLUMN uid TEXT /* UUID; NULL for rows older than this column */;

CREATE UNIQUE INDEX idx_command_executions_uid ON command_executions(uid);

INSERT INTO schema_version (version, description)
VALUES (9, 'stable name of commands');
