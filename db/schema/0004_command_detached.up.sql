-- What:  Whether a command runs on its own.
-- Why:   A detached command outlives the program that started it.
-- Rows:  None touched; old rows get 0.
-- Back:  Reversible by dropping the column.

ALTER TABLE command_executions
    ADD COLUMN is_detached INTEGER NOT NULL DEFAULT 0 /* 1: on its own */;

INSERT INTO schema_version (version, description)
VALUES (4, 'detached commands');
