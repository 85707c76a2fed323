-- What:  The process id of a command.
-- Why:   A command that is said to run can be looked for.
-- Rows:  None touched; old rows get NULL.
-- Back:  Reversible by dropping the column.

ALTER TABLE command_executions
    ADD COLUMN pid INTEGER /* process id; NULL when unknown or swept */;

INSERT INTO schema_version (version, description)
VALUES (3, 'process id of commands');
