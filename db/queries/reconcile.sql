-- name: ReconcileCandidates :many
-- Sessions that contradict themselves. unproven: closed, without the event
-- that completes the current round or run and without a reason. stale: active,
-- without an unfinished process, and the last event is older than the
-- threshold or there is none. unreadable: the same, but the time of the last
-- event is no time. Runs inside schema step 12 too: of the views it may use
-- only those of step 17. Index: idx_events_session_type.
SELECT
    a.session_id, a.session_dir, a.workflow_type, a.current_round,
    a.current_map_run, a.last_at, a.verdict
FROM (
    SELECT
        t.session_id AS session_id,
        t.session_dir AS session_dir,
        t.workflow_type AS workflow_type,
        t.current_round AS current_round,
        t.current_map_run AS current_map_run,
        CAST(IFNULL(t.last_at, '') AS TEXT) AS last_at,
        CASE
            WHEN t.status = 'closed' THEN 'unproven'
            WHEN t.last_at IS NULL THEN 'stale'
            WHEN t.last_at NOT GLOB
                    '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
                OR unixepoch(t.last_at) IS NULL THEN 'unreadable'
            WHEN CAST(sqlc.arg(now_epoch) AS INTEGER) - unixepoch(t.last_at)
                > CAST(sqlc.arg(threshold_seconds) AS INTEGER) THEN 'stale'
            ELSE 'leave'
        END AS verdict
    FROM (
        SELECT
            s.id AS session_id,
            s.session_dir AS session_dir,
            s.workflow_type AS workflow_type,
            s.status AS status,
            c.current_round AS current_round,
            c.current_map_run AS current_map_run,
            (
                SELECT CAST(e.created_at AS TEXT)
                FROM orchestration_events AS e
                WHERE e.session_id = s.id
                ORDER BY e.id DESC
                LIMIT 1
            ) AS last_at
        FROM sessions AS s
        INNER JOIN session_current AS c ON c.session_id = s.id
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
                    SELECT 1
                    FROM closing_events AS r
                    WHERE r.session_id = s.id AND r.is_reason = 1
                )
            )
    ) AS t
) AS a
WHERE a.verdict <> 'leave'
ORDER BY a.session_id;

-- name: ReconcileClose :exec
-- Closes a session that reconcile has written the reason for. Its numbers
-- stay: rows of older programs may hold anything there.
UPDATE sessions
SET status = 'closed', current_phase = 'complete', updated_at = sqlc.arg(now)
WHERE id = sqlc.arg(id);

-- name: ReconcileNumbers :exec
-- Writes the current round and run back where the log is ahead of the row.
-- The caller is about to update the row anyway.
UPDATE sessions
SET
    current_round = sqlc.arg(current_round),
    current_map_run = sqlc.arg(current_map_run)
WHERE id = sqlc.arg(id)
    AND CASE workflow_type
        WHEN 'map' THEN current_map_run < sqlc.arg(current_map_run)
        ELSE current_round < sqlc.arg(current_round)
    END;
