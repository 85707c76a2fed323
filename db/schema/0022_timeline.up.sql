-- What:  The log as a timeline, and the time spent in each phase.
-- Why:   Where a session lost its hours is asked more often than anything else.
-- Rows:  None touched.
-- Back:  Reversible by dropping the views.

CREATE VIEW session_timeline AS
-- Every event in order, with the round and run in which it happened.
SELECT
    o.event_id AS event_id,
    o.session_id AS session_id,
    o.created_at AS created_at,
    o.at_epoch AS at_epoch,
    o.event_type AS event_type,
    o.phase AS phase,
    o.phase_number AS phase_number,
    o.round AS round,
    -- Map run: the highest that the log has named or opened so far. NULL for
    -- reviews.
    CASE WHEN o.workflow_type = 'map' THEN CAST(MAX(
        1,
        IFNULL(MAX(o.named_run) OVER w, 1),
        IFNULL(MAX(
            -- A move to map-context after a completed run opens the next.
            CASE WHEN o.event_type = 'phase_transition'
                AND o.phase = 'map-context'
                THEN o.completed_run + 1
            END
        ) OVER w, 1)
    ) AS INTEGER) END AS map_run,
    o.is_lease AS is_lease,
    o.metadata AS metadata
FROM (
    SELECT
        f.event_id AS event_id,
        f.session_id AS session_id,
        f.created_at AS created_at,
        f.at_epoch AS at_epoch,
        f.event_type AS event_type,
        f.phase AS phase,
        f.phase_number AS phase_number,
        f.round AS round,
        f.is_lease AS is_lease,
        f.metadata AS metadata,
        s.workflow_type AS workflow_type,
        -- A move to map-context belongs to the run that opens right after.
        IFNULL(f.map_run, CASE
            WHEN f.event_type = 'phase_transition'
                AND f.phase = 'map-context'
                THEN LEAD(
                    CASE WHEN f.event_type = 'round_started'
                        THEN f.map_run
                    END
                ) OVER v
        END) AS named_run,
        MAX(
            CASE WHEN f.event_type = 'map_completed' THEN f.map_run END
        ) OVER v AS completed_run
    FROM event_facts AS f
    INNER JOIN sessions AS s ON s.id = f.session_id
    WINDOW v AS (PARTITION BY f.session_id ORDER BY f.event_id)
) AS o
WINDOW w AS (PARTITION BY o.session_id ORDER BY o.event_id);

CREATE VIEW phase_timings AS
-- One row for each visit of a phase. Consecutive events of one phase and
-- round (map: run) are one visit; closing the session ends it. Leases move
-- nothing, nor does the event that completes a round or run.
WITH steps AS (
    SELECT
        t.session_id AS session_id,
        t.event_id AS event_id,
        t.phase AS phase,
        t.phase_number AS phase_number,
        t.round AS round,
        t.map_run AS map_run,
        CASE WHEN t.map_run IS NULL THEN t.round ELSE t.map_run END AS number,
        t.created_at AS created_at,
        t.at_epoch AS at_epoch,
        EXISTS (
            SELECT 1 FROM closing_events AS c WHERE c.event_id = t.event_id
        ) AS closes
    FROM session_timeline AS t
    WHERE t.is_lease = 0
        AND t.event_type NOT IN ('round_completed', 'map_completed')
),
linked AS (
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
        LAG(s.closes, 1, 1) OVER w AS closed_before,
        LAG(s.phase) OVER w IS s.phase
            AND LAG(s.number) OVER w IS s.number AS stays
    FROM steps AS s
    WINDOW w AS (PARTITION BY s.session_id ORDER BY s.event_id)
),
edges AS (
    -- Where a visit begins, and the first close after it.
    SELECT
        l.session_id AS session_id,
        l.phase AS phase,
        l.phase_number AS phase_number,
        l.round AS round,
        l.map_run AS map_run,
        l.created_at AS created_at,
        l.at_epoch AS at_epoch,
        l.closes AS closes,
        SUM(l.closes = 0) OVER w AS visit,
        LEAD(l.created_at) OVER w AS left_at,
        LEAD(l.at_epoch) OVER w AS left_epoch
    FROM linked AS l
    WHERE l.closes <> l.closed_before
        OR (l.closes = 0 AND l.stays = 0)
    WINDOW w AS (PARTITION BY l.session_id ORDER BY l.event_id)
)
SELECT
    e.session_id AS session_id,
    -- Counts the visits of a session, from 1.
    CAST(e.visit AS INTEGER) AS visit,
    e.phase AS phase,
    e.phase_number AS phase_number,
    e.round AS round,
    e.map_run AS map_run,
    e.created_at AS entered_at,
    e.left_at AS left_at,
    -- NULL while the visit lasts, and when a time is unreadable; a clock that
    -- went backwards gives 0.
    CASE
        WHEN e.left_epoch - e.at_epoch < 0 THEN 0
        ELSE e.left_epoch - e.at_epoch
    END AS seconds
FROM edges AS e
WHERE e.closes = 0;
