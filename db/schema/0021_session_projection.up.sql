-- What:  session_projection folds the log into the state it implies, and
--        session_drift shows where a row says something else.
-- Why:   The row is a summary that several programs write; the log is the
--        evidence. Their difference is the first thing to look at.
-- Rows:  None touched.
-- Back:  Reversible by dropping the views.

CREATE VIEW session_projection AS
-- The state of each session as its log tells it. NULL: the log is silent.
WITH marks AS (
    -- Newest event of each kind that matters; 0 when there is none.
    SELECT
        s.id AS session_id,
        s.workflow_type AS workflow_type,
        IFNULL((
            SELECT MAX(+o.event_id)
            FROM opening_events AS o
            WHERE o.session_id = s.id
        ), 0) AS opened_id,
        IFNULL((
            SELECT MAX(+e.id)
            FROM orchestration_events AS e
            WHERE e.session_id = s.id AND e.event_type = 'phase_transition'
        ), 0) AS moved_id,
        IFNULL((
            SELECT MAX(+c.event_id)
            FROM closing_events AS c
            WHERE c.session_id = s.id
        ), 0) AS closed_id,
        IFNULL((
            SELECT MAX(+e.id)
            FROM orchestration_events AS e
            WHERE e.session_id = s.id AND e.event_type = 'session_synced'
        ), 0) AS synced_id,
        IFNULL((
            SELECT MAX(+f.event_id)
            FROM event_facts AS f
            WHERE f.session_id = s.id
                AND f.event_type IN (
                    'round_started', 'map_completed', 'session_synced'
                )
                AND f.map_run IS NOT NULL
        ), 0) AS run_id
    FROM sessions AS s
)
SELECT
    m.session_id AS session_id,
    m.workflow_type AS workflow_type,
    CASE
        WHEN m.closed_id > m.opened_id THEN 'closed'
        WHEN m.opened_id > 0 THEN 'active'
    END AS status,
    CASE
        WHEN m.closed_id > MAX(m.opened_id, m.moved_id)
            AND m.closed_id <> m.synced_id THEN 'complete'
        ELSE (
            SELECT e.phase
            FROM orchestration_events AS e
            WHERE e.id = MAX(m.opened_id, m.moved_id, m.closed_id)
        )
    END AS phase,
    CAST(IFNULL(
        (
            -- A close that gives no number leaves the one before.
            SELECT e.phase_number
            FROM closing_events AS d
            INNER JOIN orchestration_events AS e ON e.id = d.event_id
            WHERE d.session_id = m.session_id
                AND +d.event_id > MAX(m.opened_id, m.moved_id)
                AND e.phase_number IS NOT NULL
            ORDER BY +d.event_id DESC
            LIMIT 1
        ),
        (
            SELECT e.phase_number
            FROM orchestration_events AS e
            WHERE e.id = MAX(m.opened_id, m.moved_id)
        )
    ) AS INTEGER) AS phase_number,
    -- Rounds belong to reviews; a map stays at 1.
    CASE
        WHEN m.workflow_type = 'map' THEN CASE WHEN m.opened_id > 0 THEN 1 END
        ELSE (
            -- Where the session was moved to last, or what it completed since.
            SELECT MAX(r.round)
            FROM (
                SELECT f.round AS round
                FROM event_facts AS f
                WHERE f.event_id = MAX(m.opened_id, m.moved_id, m.synced_id)
                UNION ALL
                SELECT d.round
                FROM event_facts AS d
                WHERE d.session_id = m.session_id
                    AND d.event_type = 'round_completed'
                    AND +d.event_id
                        > MAX(m.opened_id, m.moved_id, m.synced_id)
            ) AS r
        )
    END AS round,
    -- Runs belong to maps; a review stays at 1.
    CASE
        WHEN m.workflow_type = 'map' AND m.run_id > 0 THEN (
            SELECT f.map_run + (
                f.event_type = 'map_completed' AND EXISTS (
                    SELECT 1
                    FROM orchestration_events AS t
                    WHERE t.session_id = m.session_id
                        AND t.event_type = 'phase_transition'
                        AND t.phase = 'map-context'
                        AND +t.id > m.run_id
                )
            )
            FROM event_facts AS f
            WHERE f.event_id = m.run_id
        )
        WHEN m.opened_id > 0 THEN 1
    END AS map_run,
    -- When the current round was first opened; NULL for maps. LIMIT has the
    -- number worked out once, not for every event that is compared with it.
    CASE WHEN m.workflow_type = 'review' THEN (
        SELECT o.created_at
        FROM (
            SELECT c.current_round AS current_round
            FROM session_current AS c
            WHERE c.session_id = m.session_id
            LIMIT 1
        ) AS n
        CROSS JOIN opening_events AS o
        WHERE o.session_id = m.session_id AND o.round = n.current_round
        ORDER BY +o.event_id
        LIMIT 1
    ) END AS round_started_at,
    -- When the current run was first opened; NULL for reviews.
    CASE WHEN m.workflow_type = 'map' THEN (
        SELECT f.created_at
        FROM (
            SELECT
                c.current_map_run AS current_map_run,
                -- End of the run before; NULL when it never ended.
                (
                    SELECT MIN(+d.id)
                    FROM orchestration_events AS d
                    WHERE d.session_id = c.session_id
                        AND d.event_type = 'map_completed'
                        AND d.round = c.current_map_run - 1
                ) AS ended_id
            FROM session_current AS c
            WHERE c.session_id = m.session_id
            LIMIT 1
        ) AS n
        CROSS JOIN event_facts AS f
        WHERE f.session_id = m.session_id
            AND (
                (n.current_map_run = 1 AND f.event_type = 'session_created')
                OR (
                    f.event_type = 'round_started'
                    AND f.map_run = n.current_map_run
                )
                OR (
                    f.event_type = 'phase_transition'
                    AND f.phase = 'map-context'
                    AND +f.event_id > n.ended_id
                )
            )
        ORDER BY +f.event_id
        LIMIT 1
    ) END AS map_started_at
FROM marks AS m;

CREATE VIEW session_drift AS
-- One row for each field in which a session's row and its log disagree. A
-- number above the log is none: other programs count what is on disk.
SELECT
    s.id AS session_id,
    'status' AS field,
    s.status AS row_value,
    p.status AS log_value
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE p.status <> s.status
UNION ALL
SELECT s.id, 'current_phase', s.current_phase, p.phase
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE s.status = 'active' AND p.phase <> s.current_phase
UNION ALL
SELECT
    s.id, 'current_round',
    CAST(s.current_round AS TEXT), CAST(p.round AS TEXT)
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE s.workflow_type = 'review' AND s.current_round < p.round
UNION ALL
SELECT
    s.id, 'current_map_run',
    CAST(s.current_map_run AS TEXT), CAST(p.map_run AS TEXT)
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
WHERE s.workflow_type = 'map' AND s.current_map_run < p.map_run;
