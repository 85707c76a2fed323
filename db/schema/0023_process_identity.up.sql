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
    -- Changes with every start of the host. Same boot id and pid_space: same
    -- process ids, whatever the host is called. Another boot id on the same
    -- host, outside of containers: everything from before is dead. Any other
    -- difference: somewhere else, and nothing can be told from here. NULL
    -- where the system has none (Windows) and when it could not be read.
    boot_id TEXT,
    -- Which counting of process ids it is: the PID namespace on Linux. NULL
    -- where the system has only one.
    pid_space TEXT,
    -- Process id that the start below belongs to. The start proves nothing
    -- once the row of the journal has another one.
    pid INTEGER,
    -- Start of the process in milliseconds since 1970, as its system tells
    -- it; NULL when no process id was given or it could not be read. Linux
    -- computes it from today's clock: there it is for people only.
    pid_started_ms INTEGER,
    -- The same in hundredths of a second since the start of the host: exact,
    -- and no change of the clock moves it. Linux only, else NULL.
    pid_started_ticks INTEGER,
    -- Phase the process was started for; NULL when not told.
    phase TEXT
);
