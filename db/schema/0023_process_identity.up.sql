-- What:  Which process a journal row really means.
-- Why:   A process id alone says nothing: ids are reused, and each host and
--        container counts its own. Death must be proved, not guessed.
-- Rows:  None touched; one new table. Rows of others have no identity here.
-- Back:  Reversible by dropping the table; the identities would be lost.

CREATE TABLE process_identity (
    -- Row of the journal that this describes.
    execution_id INTEGER PRIMARY KEY
        REFERENCES command_executions(id) ON DELETE CASCADE,
    -- Name of the host; NULL when it could not be read.
    host TEXT,
    -- Changes with every start of the host (or its container); NULL when it
    -- could not be read.
    boot_id TEXT,
    -- Start of the process in milliseconds since 1970, as its system tells
    -- it; NULL when no process id was given or it could not be read.
    pid_started_ms INTEGER,
    -- Phase the process was started for; NULL when not told.
    phase TEXT
);
