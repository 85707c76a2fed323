-- What:  The identity of a process gets the machine and the time namespace, and
--        rules for its values; the journal gives the heartbeat as a number.
-- Why:   Starts of processes mean the same only on one machine and within one
--        time namespace. One odd value in the identity stopped every listing.
--        The age of a heartbeat depends on who asks when: readers subtract.
-- Rows:  process_identity is copied; values of the wrong type become NULL.
-- Back:  Not reversible without the snapshot.

DROP VIEW agent_journal;

ALTER TABLE process_identity RENAME TO process_identity_before;

CREATE TABLE process_identity (
    -- Row of the process journal that this describes.
    execution_id INTEGER PRIMARY KEY
        REFERENCES command_executions(id) ON DELETE CASCADE,
    -- Digest of the machine's own id, the same whatever the host is called.
    -- NULL where the system has none and when it could not be read.
    machine TEXT,
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
    -- From which moment starts are counted: the time namespace on Linux.
    -- Starts from two of them are never compared. NULL where there is one.
    time_space TEXT,
    -- Process id that the start below belongs to. The start proves nothing
    -- once the row of the journal has another one.
    pid INTEGER
        CONSTRAINT process_identity_pid_from_one CHECK (pid >= 1),
    -- Start of the process in milliseconds since 1970, as its system tells
    -- it; NULL when no process id was given or it could not be read. Linux
    -- computes it from today's clock: there it is for people only.
    pid_started_ms INTEGER
        CONSTRAINT process_identity_start_after_1970
        CHECK (pid_started_ms >= 1),
    -- The same in hundredths of a second since the start of the host: exact,
    -- and no change of the clock moves it. Linux only, else NULL.
    pid_started_ticks INTEGER
        CONSTRAINT process_identity_start_after_boot
        CHECK (pid_started_ticks >= 1),
    -- Phase the process was started for; NULL when not told.
    phase TEXT
) STRICT;

INSERT INTO process_identity (
    execution_id, host, boot_id, pid_space, pid, pid_started_ms,
    pid_started_ticks, phase
)
SELECT
    b.execution_id,
    CASE WHEN typeof(b.host) = 'text' THEN b.host END,
    CASE WHEN typeof(b.boot_id) = 'text' THEN b.boot_id END,
    CASE WHEN typeof(b.pid_space) = 'text' THEN b.pid_space END,
    CASE WHEN typeof(b.pid) = 'integer' AND b.pid >= 1 THEN b.pid END,
    CASE WHEN typeof(b.pid_started_ms) = 'integer' AND b.pid_started_ms >= 1
        THEN b.pid_started_ms
    END,
    CASE WHEN typeof(b.pid_started_ticks) = 'integer'
        AND b.pid_started_ticks >= 1
        THEN b.pid_started_ticks
    END,
    CASE WHEN typeof(b.phase) = 'text' THEN b.phase END
FROM process_identity_before AS b
ORDER BY b.execution_id;

DROP TABLE process_identity_before;

CREATE VIEW agent_journal AS
-- One row for each recorded process, finished or not. Whole numbers that other
-- programs stored as something else are NULL here.
SELECT
    x.id AS execution_id,
    -- Name for callers: the uid, or the row's number where there is none.
    CAST(IFNULL(NULLIF(x.uid, ''), x.id) AS TEXT) AS id,
    CAST(IFNULL(x.workflow_id, '') AS TEXT) AS workflow_id,
    CAST(IFNULL(x.vendor, '') AS TEXT) AS vendor,
    x.vendor_session_id AS vendor_session_id,
    x.persona AS persona,
    CASE
        WHEN typeof(x.instance_index) = 'integer' THEN x.instance_index
    END AS instance_index,
    x.name AS name,
    x.resolved_model AS resolved_model,
    i.phase AS phase,
    -- How the process ended, or that it has not.
    CASE
        WHEN x.finished_at IS NULL THEN 'running'
        WHEN x.exit_code = -3 THEN 'orphaned'
        WHEN x.exit_code IN (-2, -4) THEN 'cancelled'
        WHEN x.exit_code = 0 THEN 'done'
        ELSE 'crashed'
    END AS status,
    -- An instance works for a supervisor; a utility keeps no heartbeat.
    CASE
        WHEN x.command = 'session-instance'
            OR substr(x.command, 1, 17) = 'session-instance:' THEN 'instance'
        WHEN x.last_heartbeat_at IS NOT NULL THEN 'supervisor'
        ELSE 'utility'
    END AS kind,
    CASE WHEN typeof(x.pid) = 'integer' THEN x.pid END AS pid,
    x.started_at AS started_at,
    x.last_heartbeat_at AS last_heartbeat_at,
    -- The last heartbeat in seconds since 1970; NULL without one, and when the
    -- text is not a valid timestamp. Its age is unixepoch('now') minus this.
    CASE
        WHEN x.last_heartbeat_at
            GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN CAST(unixepoch(x.last_heartbeat_at) AS INTEGER)
    END AS heartbeat_epoch,
    x.finished_at AS ended_at,
    CASE
        WHEN typeof(x.exit_code) = 'integer' THEN x.exit_code
    END AS exit_code,
    x.notes AS notes,
    -- The later one of start and last heartbeat, in seconds since 1970; NULL
    -- when either is not a valid timestamp. A process that started well after
    -- it is not the one that was recorded.
    CASE
        WHEN x.started_at
            GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            AND x.last_heartbeat_at
            GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN MAX(
                unixepoch(x.started_at), unixepoch(x.last_heartbeat_at)
            )
    END AS last_sign_epoch,
    -- Where the process was recorded, and the start of the process that had
    -- the id then; all NULL when another program wrote the row.
    i.machine AS machine,
    i.host AS host,
    i.boot_id AS boot_id,
    i.pid_space AS pid_space,
    i.time_space AS time_space,
    i.pid AS recorded_pid,
    i.pid_started_ms AS pid_started_ms,
    i.pid_started_ticks AS pid_started_ticks
FROM command_executions AS x
LEFT JOIN process_identity AS i ON i.execution_id = x.id;
