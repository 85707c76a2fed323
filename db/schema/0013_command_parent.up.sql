-- What:  command_executions loses parent_id and its index.
-- Why:   Nothing ever wrote it; the session is what ties processes together.
-- Rows:  None deleted; the column's values go.
-- Back:  Reversible by adding the column again, empty.

DROP INDEX idx_command_executions_parent;

ALTER TABLE command_executions DROP COLUMN parent_id;

INSERT INTO schema_version (version, description)
VALUES (13, 'processes without a parent column');
