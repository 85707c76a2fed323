-- name: EventAppend :execrows
-- The only way into the log. A repeated terminal event is ignored by
-- trg_events_one_terminal: the caller appends none that is there already.
INSERT INTO orchestration_events (
    session_id, event_type, phase, phase_number, round, metadata, created_at
) VALUES (
    sqlc.arg(session_id), sqlc.arg(event_type), sqlc.narg(phase),
    sqlc.narg(phase_number), sqlc.narg(round), sqlc.narg(metadata),
    sqlc.arg(now)
);

-- name: EventList :many
-- A session's log as it was written; whole numbers that other programs stored
-- as something else are NULL. Index: idx_events_session.
SELECT
    e.id, e.event_type, e.phase, f.phase_number,
    (
        SELECT r.round
        FROM orchestration_events AS r
        WHERE r.id = e.id AND typeof(r.round) = 'integer'
    ) AS round,
    e.metadata, e.created_at
FROM orchestration_events AS e
INNER JOIN event_facts AS f ON f.event_id = e.id
WHERE e.session_id = sqlc.arg(session_id)
ORDER BY e.id;

-- name: EventAny :one
-- Whether the log knows a session, row or not. Index: idx_events_session.
SELECT EXISTS (
    SELECT 1
    FROM orchestration_events AS e
    WHERE e.session_id = sqlc.arg(session_id)
) AS found;

-- name: EventTimeline :many
-- A session's events after a given one, with round and run spelled out.
SELECT
    t.event_id, t.session_id, t.created_at, t.event_type, t.phase,
    t.phase_number, t.round, t.map_run, t.is_lease, t.metadata
FROM session_timeline AS t
WHERE t.session_id = sqlc.arg(session_id)
    AND t.event_id > sqlc.arg(after_id)
ORDER BY t.event_id;

-- name: EventTimelineNew :many
-- What session_timeline says of the events after a given one, at the cost of
-- these alone. The caller gives the map run that it said of the given event, 1
-- for none; map_run means nothing for a review. Indexes: idx_events_session,
-- idx_events_session_type.
SELECT
    f.event_id, f.session_id, f.created_at, f.event_type, f.phase,
    f.phase_number, f.round, CAST(o.map_run AS INTEGER) AS map_run,
    f.is_lease, f.metadata
FROM (
    SELECT
        i.event_id AS event_id,
        MAX(
            CAST(sqlc.arg(map_run) AS INTEGER),
            IFNULL(MAX(i.named_run) OVER w, 1),
            IFNULL(MAX(
                CASE WHEN i.event_type = 'phase_transition'
                    AND i.phase = 'map-context'
                    THEN i.completed_run + 1
                END
            ) OVER w, 1)
        ) AS map_run
    FROM (
        SELECT
            n.event_id AS event_id,
            n.event_type AS event_type,
            n.phase AS phase,
            IFNULL(n.map_run, CASE
                WHEN n.event_type = 'phase_transition'
                    AND n.phase = 'map-context'
                    THEN LEAD(
                        CASE WHEN n.event_type = 'round_started'
                            THEN n.map_run
                        END
                    ) OVER v
            END) AS named_run,
            MAX(
                IFNULL(MAX(
                    CASE WHEN n.event_type = 'map_completed'
                        THEN n.map_run
                    END
                ) OVER v, 0),
                IFNULL((
                    SELECT MAX(c.map_run)
                    FROM event_facts AS c
                    WHERE c.session_id = CAST(sqlc.arg(session_id) AS TEXT)
                        AND c.event_type = 'map_completed'
                        AND +c.event_id <= CAST(sqlc.arg(after_id) AS INTEGER)
                ), 0)
            ) AS completed_run
        FROM event_facts AS n
        WHERE n.session_id = CAST(sqlc.arg(session_id) AS TEXT)
            AND n.event_id > CAST(sqlc.arg(after_id) AS INTEGER)
        WINDOW v AS (ORDER BY n.event_id)
    ) AS i
    WINDOW w AS (ORDER BY i.event_id)
) AS o
INNER JOIN event_facts AS f ON f.event_id = o.event_id
ORDER BY f.event_id;

-- name: EventPhaseTimings :many
-- Time spent in each visit of a phase.
SELECT
    p.visit, p.phase, p.phase_number, p.round, p.map_run, p.entered_at,
    p.left_at, p.seconds
FROM phase_timings AS p
WHERE p.session_id = sqlc.arg(session_id)
ORDER BY p.visit;

-- name: EventTerminalMetadata :one
-- What the event that completed a round or run recorded; no row while the
-- round or run is not complete. Index: idx_events_session_type.
SELECT e.metadata
FROM orchestration_events AS e
WHERE e.session_id = sqlc.arg(session_id)
    AND e.event_type = sqlc.arg(event_type)
    AND e.round = sqlc.arg(round)
ORDER BY +e.id
LIMIT 1;

-- name: EventUnopened :one
-- The place of a session whose row is in a round or run that the log has not
-- opened, as another program can have put it; else no row. What opens a round
-- or run stands in session_current, which takes the row into account as well.
-- Index: idx_events_session_type.
SELECT
    s.workflow_type, s.current_phase,
    CAST(CASE
        WHEN typeof(s.phase_number) = 'integer' THEN s.phase_number ELSE 0
    END AS INTEGER) AS phase_number,
    c.current_round, c.current_map_run
FROM sessions AS s
INNER JOIN session_current AS c ON c.session_id = s.id
WHERE s.id = sqlc.arg(session_id)
    AND CASE s.workflow_type
        WHEN 'map' THEN c.current_map_run > 1
            AND c.current_map_run > IFNULL((
                SELECT MAX(o.map_run)
                FROM opening_events AS o
                WHERE o.session_id = s.id
            ), 1)
            AND c.current_map_run > IFNULL((
                SELECT MAX(m.map_run) + 1
                FROM event_facts AS m
                WHERE m.session_id = s.id
                    AND m.event_type = 'map_completed'
                    AND EXISTS (
                        SELECT 1
                        FROM orchestration_events AS t
                        WHERE t.session_id = s.id
                            AND t.event_type = 'phase_transition'
                            AND t.phase = 'map-context'
                            AND +t.id > m.event_id
                    )
            ), 1)
        ELSE c.current_round > 1
            AND c.current_round > IFNULL((
                SELECT MAX(o.round)
                FROM opening_events AS o
                WHERE o.session_id = s.id
            ), 1)
    END;

-- name: EventClosing :one
-- The event that closed a session last, whether it is not the first of its
-- session, and the phase in which the session was before it; empty where the
-- log does not say. Index: idx_events_session_type, idx_events_session.
SELECT
    c.event_type,
    EXISTS (
        SELECT 1
        FROM orchestration_events AS e
        WHERE e.session_id = c.session_id AND +e.id < c.event_id
    ) AS has_history,
    CAST(IFNULL((
        SELECT f.phase
        FROM event_facts AS f
        WHERE f.session_id = c.session_id
            AND +f.event_id < c.event_id
            AND f.is_lease = 0
            AND f.event_type IN (
                'session_created', 'session_resumed', 'round_started',
                'phase_transition'
            )
        ORDER BY +f.event_id DESC
        LIMIT 1
    ), '') AS TEXT) AS phase_before
FROM closing_events AS c
WHERE c.session_id = sqlc.arg(session_id)
ORDER BY +c.event_id DESC
LIMIT 1;

-- name: EventLastCompleted :one
-- Highest completed round or run; 0 while none is.
-- Index: idx_events_session_type.
SELECT CAST(IFNULL(MAX(e.round), 0) AS INTEGER) AS number
FROM orchestration_events AS e
WHERE e.session_id = sqlc.arg(session_id)
    AND e.event_type = sqlc.arg(event_type)
    AND typeof(e.round) = 'integer';
