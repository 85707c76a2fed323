-- What:  Views that read the log: its facts, what opens and what closes a
--        session, the phases, the current round or run, and when something
--        last happened.
-- Why:   Several programs write sessions.current_round, one of them from what
--        it finds on disk, also downwards. The log decides.
-- Rows:  None touched.
-- Back:  Reversible by dropping the views.

CREATE VIEW workflow_phases AS
-- The phases of each workflow in order. A session moves to the next one, stays,
-- or, with a new round or run, starts again at number 1.
SELECT 'review' AS workflow_type, 1 AS phase_number, 'context' AS phase
UNION ALL SELECT 'review', 2, 'change-context'
UNION ALL SELECT 'review', 3, 'analysis'
UNION ALL SELECT 'review', 4, 'reviews'
UNION ALL SELECT 'review', 5, 'aggregation'
UNION ALL SELECT 'review', 6, 'discourse'
UNION ALL SELECT 'review', 7, 'synthesis'
UNION ALL SELECT 'review', 8, 'complete'
UNION ALL SELECT 'map', 1, 'map-context'
UNION ALL SELECT 'map', 2, 'topology'
UNION ALL SELECT 'map', 3, 'flow-analysis'
UNION ALL SELECT 'map', 4, 'requirements-mapping'
UNION ALL SELECT 'map', 5, 'synthesis'
UNION ALL SELECT 'map', 6, 'complete';

CREATE VIEW event_facts AS
-- The log with the facts spelled out that stand in metadata or in a column
-- that means different things for different events. One row for each event.
SELECT
    e.id AS event_id,
    e.session_id AS session_id,
    e.event_type AS event_type,
    e.phase AS phase,
    -- Place of that phase; NULL when another program stored no whole number.
    CASE
        WHEN typeof(e.phase_number) = 'integer' THEN e.phase_number
    END AS phase_number,
    -- Review round the event names; NULL when it names none.
    CASE
        WHEN e.event_type = 'map_completed' THEN NULL
        WHEN e.event_type = 'session_synced' THEN
            CASE WHEN json_valid(e.metadata) THEN
                CASE WHEN json_type(e.metadata, '$.round') = 'integer'
                    THEN CAST(json_extract(e.metadata, '$.round') AS INTEGER)
                END
            END
        WHEN typeof(e.round) = 'integer' THEN e.round
    END AS round,
    -- Map run the event names; NULL when it names none.
    CASE
        WHEN e.event_type = 'map_completed' THEN
            CASE WHEN typeof(e.round) = 'integer' THEN e.round END
        WHEN e.event_type IN ('round_started', 'session_synced') THEN
            CASE WHEN json_valid(e.metadata) THEN
                CASE WHEN json_type(e.metadata, '$.map_run') = 'integer'
                    THEN CAST(json_extract(e.metadata, '$.map_run') AS INTEGER)
                END
            END
    END AS map_run,
    -- 1 for a lease: somebody took over the round to carry it on. A lease
    -- opens nothing and moves nothing.
    CASE
        WHEN e.event_type <> 'session_resumed' THEN 0
        WHEN NOT IFNULL(json_valid(e.metadata), 0) THEN 0
        WHEN json_extract(e.metadata, '$.kind') = 'forward_resume' THEN 1
        ELSE 0
    END AS is_lease,
    e.metadata AS metadata,
    e.created_at AS created_at,
    -- The same instant in seconds since 1970; NULL when the text is no time.
    CASE
        WHEN e.created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN CAST(unixepoch(e.created_at) AS INTEGER)
    END AS at_epoch
FROM orchestration_events AS e;

CREATE VIEW opening_events AS
-- Events that open a session, a round or a run.
SELECT
    f.event_id AS event_id,
    f.session_id AS session_id,
    f.event_type AS event_type,
    f.round AS round,
    f.map_run AS map_run,
    f.created_at AS created_at
FROM event_facts AS f
WHERE f.event_type IN ('session_created', 'session_resumed', 'round_started')
    AND f.is_lease = 0;

CREATE VIEW closing_events AS
-- Events that close a session. A reason event closes without a result.
SELECT
    e.id AS event_id,
    e.session_id AS session_id,
    e.event_type AS event_type,
    CASE WHEN e.event_type = 'session_closed' THEN 0 ELSE 1 END AS is_reason,
    e.created_at AS created_at
FROM orchestration_events AS e
WHERE e.event_type IN (
    'session_closed', 'session_aborted', 'session_auto_closed_stale',
    'session_synced', 'session_legacy_import'
);

CREATE VIEW valid_reasons AS
-- Reason events that still count: newer than the last opening of their
-- session. An old abort says nothing about a session that was opened again.
SELECT
    r.session_id AS session_id,
    r.event_id AS event_id,
    r.event_type AS event_type
FROM closing_events AS r
WHERE r.is_reason = 1
    AND +r.event_id > IFNULL((
        SELECT MAX(+o.event_id)
        FROM opening_events AS o
        WHERE o.session_id = r.session_id
    ), 0);

CREATE VIEW session_current AS
-- The current round (review) and run (map): the larger of the row's number
-- and the highest that the log has opened. Completion, closing and every verb
-- go by these numbers.
SELECT
    s.id AS session_id,
    s.workflow_type AS workflow_type,
    CAST(CASE
        WHEN s.workflow_type <> 'review' THEN s.current_round
        ELSE MAX(
            1,
            CASE typeof(s.current_round)
                WHEN 'integer' THEN s.current_round ELSE 1
            END,
            IFNULL((
                SELECT MAX(o.round)
                FROM opening_events AS o
                WHERE o.session_id = s.id
            ), 1)
        )
    END AS INTEGER) AS current_round,
    CAST(CASE
        WHEN s.workflow_type <> 'map' THEN s.current_map_run
        ELSE MAX(
            1,
            CASE typeof(s.current_map_run)
                WHEN 'integer' THEN s.current_map_run ELSE 1
            END,
            IFNULL((
                SELECT MAX(o.map_run)
                FROM opening_events AS o
                WHERE o.session_id = s.id
            ), 1),
            IFNULL((
                -- A move to map-context after a completed run opens the next.
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
        )
    END AS INTEGER) AS current_map_run
FROM sessions AS s;

CREATE VIEW session_idle AS
-- When something last happened in each session: its newest event, or, where
-- the log is empty, the last change of its row.
SELECT
    t.session_id AS session_id,
    -- NULL where the log is empty.
    t.last_event_id AS last_event_id,
    t.last_at AS last_at,
    -- The same instant in seconds since 1970; NULL when the text is no time.
    CASE
        WHEN t.last_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN CAST(unixepoch(t.last_at) AS INTEGER)
    END AS last_epoch
FROM (
    SELECT
        s.id AS session_id,
        e.id AS last_event_id,
        CAST(IFNULL(e.created_at, s.updated_at) AS TEXT) AS last_at
    FROM sessions AS s
    LEFT JOIN orchestration_events AS e ON e.id = (
        SELECT MAX(n.id)
        FROM orchestration_events AS n
        WHERE n.session_id = s.id
    )
) AS t;
