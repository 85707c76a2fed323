-- What:  The journal of processes with its derived kind and status.
-- Why:   Every reader derived them for itself, and they disagreed.
-- Rows:  None touched.
-- Back:  Reversible by dropping the view.

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
    -- Seconds since the last heartbeat; NULL without one, and when the text
    -- is no time. Negative when it lies in the future.
    CASE
        WHEN x.last_heartbeat_at
            GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN CAST(
                unixepoch('now') - unixepoch(x.last_heartbeat_at) AS INTEGER
            )
    END AS heartbeat_age_seconds,
    x.finished_at AS ended_at,
    CASE
        WHEN typeof(x.exit_code) = 'integer' THEN x.exit_code
    END AS exit_code,
    x.notes AS notes,
    -- The later one of start and last heartbeat, in seconds since 1970; NULL
    -- when either is no time. A process that started well after it is not the
    -- one that was recorded.
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
    i.host AS host,
    i.boot_id AS boot_id,
    i.pid_space AS pid_space,
    i.pid AS recorded_pid,
    i.pid_started_ms AS pid_started_ms,
    i.pid_started_ticks AS pid_started_ticks
FROM command_executions AS x
LEFT JOIN process_identity AS i ON i.execution_id = x.id;
