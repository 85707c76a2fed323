-- name: ReconcileCandidates :many
-- Sessions that contradict themselves. unproven: closed, without the event
-- that completes the current round or run and without a reason that is newer
-- than the last opening. stale: active, without an unfinished process, and the
-- last event is older than the threshold or there is none. unreadable: the
-- same, but the time of the last event is no time. last_at is empty without
-- events. Runs inside schema step 12 too: of the views it may use only those of
-- step 17. Index: idx_events_session_type.
SELECT
    a.session_id, a.session_dir, a.workflow_type, a.current_round,
    a.current_map_run, a.row_is_behind, a.last_at, a.verdict
FROM (
    SELECT
        s.id AS session_id,
        s.session_dir AS session_dir,
        s.workflow_type AS workflow_type,
        c.current_round AS current_round,
        c.current_map_run AS current_map_run,
        -- Whether the log has opened a higher round or run than the row says.
        CAST(IFNULL(CASE s.workflow_type
            WHEN 'map' THEN s.current_map_run < c.current_map_run
            ELSE s.current_round < c.current_round
        END, 0) AS BOOLEAN) AS row_is_behind,
        CAST(CASE
            WHEN i.last_event_id IS NULL THEN '' ELSE i.last_at
        END AS TEXT) AS last_at,
        CASE
            WHEN s.status = 'closed' THEN 'unproven'
            WHEN i.last_event_id IS NULL THEN 'stale'
            WHEN i.last_epoch IS NULL THEN 'unreadable'
            WHEN CAST(sqlc.arg(now_epoch) AS INTEGER) - i.last_epoch
                > CAST(sqlc.arg(threshold_seconds) AS INTEGER) THEN 'stale'
            ELSE 'leave'
        END AS verdict
    FROM sessions AS s
    INNER JOIN session_current AS c ON c.session_id = s.id
    INNER JOIN session_idle AS i ON i.session_id = s.id
    WHERE (
        s.status = 'active'
        AND NOT EXISTS (
            SELECT 1
            FROM command_executions AS x
            WHERE x.workflow_id = s.id AND x.finished_at IS NULL
        )
    )
        OR (
            s.status = 'closed'
            AND NOT EXISTS (
                SELECT 1
                FROM orchestration_events AS e
                WHERE e.session_id = s.id
                    AND e.event_type = CASE s.workflow_type
                        WHEN 'map' THEN 'map_completed'
                        ELSE 'round_completed'
                    END
                    AND e.round = CASE s.workflow_type
                        WHEN 'map' THEN c.current_map_run
                        ELSE c.current_round
                    END
            )
            AND NOT EXISTS (
                SELECT 1 FROM valid_reasons AS r WHERE r.session_id = s.id
            )
        )
) AS a
WHERE a.verdict <> 'leave' AND a.session_id IS NOT NULL
ORDER BY a.session_id;

-- name: ReconcileClose :execrows
-- Closes a session that reconcile has written the reason for. Its numbers
-- stay: rows of older programs may hold anything there.
UPDATE sessions
SET status = 'closed', current_phase = 'complete', updated_at = sqlc.arg(now)
WHERE id = sqlc.arg(id);

-- name: ReconcileNumbers :execrows
-- Writes the current round and run back, for a row that is behind the log.
-- The caller is about to update the row anyway.
UPDATE sessions
SET
    current_round = sqlc.arg(current_round),
    current_map_run = sqlc.arg(current_map_run)
WHERE id = sqlc.arg(id);
