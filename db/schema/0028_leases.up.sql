-- What:  Who carries on which round or run, and until when nobody else may.
-- Why:   Every program derived the end of a lease for itself, from its own
--        settings: two of them could hold one round at once.
-- Rows:  None touched.
-- Back:  Reversible by dropping the view.

CREATE VIEW leases AS
-- Every lease that the log knows: somebody took over a round (map: run) to
-- carry it on. Its metadata names round, owner, token and lease_seconds; what
-- another program left out, or wrote wrongly, is NULL or the default here.
WITH taken AS (
    SELECT
        f.event_id AS event_id,
        f.session_id AS session_id,
        f.created_at AS taken_at,
        CASE WHEN f.is_lease = 1 THEN
            CASE WHEN json_type(f.metadata, '$.round') = 'integer'
                THEN json_extract(f.metadata, '$.round')
            END
        END AS round,
        CASE WHEN f.is_lease = 1 THEN
            CASE WHEN json_type(f.metadata, '$.owner') = 'text'
                THEN NULLIF(json_extract(f.metadata, '$.owner'), '')
            END
        END AS owner,
        CASE
            WHEN f.is_lease <> 1 THEN NULL
            WHEN IFNULL(json_type(f.metadata, '$.lease_seconds'), '')
                <> 'integer' THEN 1800
            WHEN json_extract(f.metadata, '$.lease_seconds') < 1 THEN 1800
            ELSE MIN(json_extract(f.metadata, '$.lease_seconds'), 2592000)
        END AS lease_seconds
    FROM event_facts AS f
    WHERE f.event_type = 'session_resumed'
        AND f.is_lease = 1
),
placed AS (
    SELECT
        t.event_id AS event_id,
        t.session_id AS session_id,
        s.workflow_type AS workflow_type,
        s.status AS session_status,
        t.taken_at AS taken_at,
        t.round AS round,
        t.owner AS owner,
        t.lease_seconds AS lease_seconds,
        -- Of the current round or run. A map's lease names current_round: its
        -- run is the highest that the log had opened, or the one after the
        -- last completed.
        CASE
            WHEN t.round IS NOT c.current_round THEN 0
            WHEN s.workflow_type = 'review' THEN 1
            WHEN MAX(
                1,
                IFNULL((
                    SELECT MAX(o.map_run)
                    FROM opening_events AS o
                    WHERE o.session_id = t.session_id
                        AND +o.event_id < t.event_id
                ), 1),
                IFNULL((
                    SELECT MAX(d.map_run) + 1
                    FROM event_facts AS d
                    WHERE d.session_id = t.session_id
                        AND d.event_type = 'map_completed'
                        AND +d.event_id < t.event_id
                ), 1)
            ) >= c.current_map_run THEN 1
            ELSE 0
        END AS is_of_current
    FROM taken AS t
    INNER JOIN sessions AS s ON s.id = t.session_id
    INNER JOIN session_current AS c ON c.session_id = t.session_id
),
judged AS (
    SELECT
        p.event_id AS event_id,
        p.session_id AS session_id,
        p.workflow_type AS workflow_type,
        p.session_status AS session_status,
        p.taken_at AS taken_at,
        p.round AS round,
        p.owner AS owner,
        p.lease_seconds AS lease_seconds,
        -- A round that was closed because its attempts were used up, and was
        -- opened again, counts anew.
        CASE
            WHEN p.is_of_current = 0 THEN 0
            WHEN p.event_id > IFNULL((
                SELECT MAX(+z.event_id)
                FROM event_facts AS z
                WHERE z.session_id = p.session_id
                    AND z.event_type = 'session_auto_closed_stale'
                    AND CASE WHEN json_valid(z.metadata)
                        THEN json_extract(z.metadata, '$.reason')
                    END = 'forward_resume_exhausted'
            ), 0) THEN 1
            ELSE 0
        END AS is_attempt,
        CASE
            WHEN p.is_of_current = 0 THEN 0
            WHEN p.event_id <= IFNULL((
                SELECT MAX(+o.event_id)
                FROM opening_events AS o
                WHERE o.session_id = p.session_id
            ), 0) THEN 0
            WHEN EXISTS (
                SELECT 1
                FROM event_facts AS n
                WHERE n.session_id = p.session_id
                    AND n.event_type = 'session_resumed'
                    AND n.is_lease = 1
                    AND +n.event_id > p.event_id
                    AND CASE WHEN n.is_lease = 1
                        THEN json_extract(n.metadata, '$.round')
                    END = p.round
            ) THEN 0
            ELSE 1
        END AS is_newest,
        -- The holder's steps name the lease. A lease without an owner has no
        -- token to show: any event of its session is its sign of life.
        CASE
            WHEN p.owner IS NOT NULL THEN IFNULL((
                SELECT MAX(+m.id)
                FROM orchestration_events AS m
                WHERE m.session_id = p.session_id
                    AND m.event_type = 'phase_transition'
                    AND +m.id > p.event_id
                    AND CASE WHEN json_valid(m.metadata)
                        THEN json_extract(m.metadata, '$.lease')
                    END = p.event_id
            ), p.event_id)
            ELSE (
                SELECT MAX(a.id)
                FROM orchestration_events AS a
                WHERE a.session_id = p.session_id
            )
        END AS last_sign_id
    FROM placed AS p
),
signed AS (
    SELECT
        j.event_id AS event_id,
        j.session_id AS session_id,
        j.workflow_type AS workflow_type,
        j.session_status AS session_status,
        j.taken_at AS taken_at,
        j.round AS round,
        j.owner AS owner,
        j.lease_seconds AS lease_seconds,
        j.is_attempt AS is_attempt,
        j.is_newest AS is_newest,
        j.last_sign_id AS last_sign_id,
        e.created_at AS last_sign_at,
        e.at_epoch AS last_sign_epoch,
        -- A holder that goes on after its process had ended is there after all.
        CASE WHEN EXISTS (
            SELECT 1
            FROM command_executions AS x
            WHERE x.uid = j.owner
                AND x.finished_at
                GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
                AND unixepoch(x.finished_at) > e.at_epoch
        ) THEN 1 ELSE 0 END AS owner_ended
    FROM judged AS j
    INNER JOIN event_facts AS e ON e.event_id = j.last_sign_id
)
SELECT
    j.session_id AS session_id,
    j.workflow_type AS workflow_type,
    -- The event session_resumed that is the lease.
    j.event_id AS event_id,
    -- Review round; of a map the number that current_round had.
    j.round AS round,
    -- Uid of the owner's row in command_executions, or a name for people where
    -- it has none; NULL when another program took the lease. Such a lease
    -- keeps others from taking the round over, and from nothing else.
    j.owner AS owner,
    -- How long the lease lasts after its last sign of life, as it says itself:
    -- 1800 where it says nothing, 30 days at most.
    CAST(j.lease_seconds AS INTEGER) AS lease_seconds,
    j.taken_at AS taken_at,
    -- Its own event, or the newest that was appended with it.
    CAST(j.last_sign_id AS INTEGER) AS last_sign_id,
    j.last_sign_at AS last_sign_at,
    -- The same instant in seconds since 1970; NULL when the text is no time.
    j.last_sign_epoch AS last_sign_epoch,
    -- Where it ends, UTC, if nothing more happens: the last sign of life plus
    -- lease_seconds. A sign ahead of now counts as now. NULL when the time of
    -- that sign cannot be read.
    datetime(
        MIN(j.last_sign_epoch, unixepoch('now')) + j.lease_seconds,
        'unixepoch'
    ) AS until,
    -- 1 for the newest lease of the current round or run since that was last
    -- opened: the only one that can be in force, and whose token counts.
    CAST(j.is_newest AS INTEGER) AS is_newest,
    -- 1 when it counts against the limit of attempts.
    CAST(j.is_attempt AS INTEGER) AS is_attempt,
    -- 1 when the owner's process has ended since the last sign of life.
    CAST(j.owner_ended AS INTEGER) AS owner_ended,
    -- 1 while nobody else may carry the round on, by this machine's clock;
    -- NULL when the time of the last sign cannot be read. A living row of a
    -- dead process does not show here: ocr session list proves that.
    CASE
        WHEN j.is_newest = 0 OR j.session_status <> 'active' THEN 0
        WHEN j.owner_ended = 1 THEN 0
        ELSE j.last_sign_epoch + j.lease_seconds > unixepoch('now')
    END AS in_force
FROM signed AS j;
