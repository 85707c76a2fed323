-- What:  The log as a timeline, and the time spent in each phase.
-- Why:   Where a run lost its hours is asked more often than anything else.
-- Rows:  None touched.
-- Back:  Reversible by dropping the views.

CREATE VIEW session_timeline AS
-- Every event in order, with the round and run in which it happened.
SELECT
    f.event_id AS event_id,
    f.session_id AS session_id,
    f.created_at AS created_at,
    f.at_epoch AS at_epoch,
    f.event_type AS event_type,
    f.phase AS phase,
    f.phase_number AS phase_number,
    f.round AS round,
    -- Map run: named by the event, or the one after the last completed.
    -- NULL for reviews.
    CASE WHEN s.workflow_type = 'map' THEN CAST(IFNULL(
        f.map_run,
        1 + IFNULL((
            SELECT MAX(d.round)
            FROM orchestration_events AS d
            WHERE d.session_id = f.session_id
                AND d.event_type = 'map_completed'
                AND +d.id < f.event_id
        ), 0)
    ) AS INTEGER) END AS map_run,
    f.is_lease AS is_lease,
    f.metadata AS metadata
FROM event_facts AS f
INNER JOIN sessions AS s ON s.id = f.session_id;

CREATE VIEW phase_timings AS
-- One row for each visit of a phase. Consecutive events of one phase and
-- round are one visit; closing the session ends it.
WITH steps AS (
    SELECT
        t.session_id AS session_id,
        t.event_id AS event_id,
        t.phase AS phase,
        t.phase_number AS phase_number,
        t.round AS round,
        t.map_run AS map_run,
        t.created_at AS created_at,
        t.at_epoch AS at_epoch,
        CASE WHEN c.event_id IS NULL THEN 0 ELSE 1 END AS closes,
        LAG(t.phase) OVER w AS phase_before,
        LAG(t.round) OVER w AS round_before,
        LAG(CASE WHEN c.event_id IS NULL THEN 0 ELSE 1 END, 1, 1) OVER w
            AS closed_before
    FROM session_timeline AS t
    LEFT JOIN closing_events AS c ON c.event_id = t.event_id
    WHERE t.is_lease = 0
    WINDOW w AS (PARTITION BY t.session_id ORDER BY t.event_id)
),
numbered AS (
    SELECT
        s.session_id AS session_id,
        s.event_id AS event_id,
        s.phase AS phase,
        s.phase_number AS phase_number,
        s.round AS round,
        s.map_run AS map_run,
        s.created_at AS created_at,
        s.at_epoch AS at_epoch,
        s.closes AS closes,
        SUM(
            s.closes = 0 AND (
                s.closed_before = 1
                OR s.phase IS NOT s.phase_before
                OR s.round IS NOT s.round_before
            )
        ) OVER (PARTITION BY s.session_id ORDER BY s.event_id) AS visit
    FROM steps AS s
),
visits AS (
    SELECT
        n.session_id AS session_id,
        n.visit AS visit,
        MIN(n.event_id) AS entered_id,
        MIN(CASE WHEN n.closes = 1 THEN n.event_id END) AS closed_id
    FROM numbered AS n
    WHERE n.visit > 0
    GROUP BY n.session_id, n.visit
),
bounds AS (
    SELECT
        v.session_id AS session_id,
        v.visit AS visit,
        v.entered_id AS entered_id,
        IFNULL(
            v.closed_id,
            LEAD(v.entered_id) OVER (
                PARTITION BY v.session_id ORDER BY v.visit
            )
        ) AS left_id
    FROM visits AS v
)
SELECT
    b.session_id AS session_id,
    -- Counts the visits of a session, from 1.
    CAST(b.visit AS INTEGER) AS visit,
    a.phase AS phase,
    a.phase_number AS phase_number,
    a.round AS round,
    a.map_run AS map_run,
    a.created_at AS entered_at,
    z.created_at AS left_at,
    -- NULL while the visit lasts, and when a time is unreadable; a clock that
    -- went backwards gives 0.
    CASE
        WHEN z.at_epoch - a.at_epoch < 0 THEN 0
        ELSE z.at_epoch - a.at_epoch
    END AS seconds
FROM bounds AS b
INNER JOIN numbered AS a ON a.event_id = b.entered_id
LEFT JOIN numbered AS z ON z.event_id = b.left_id;
