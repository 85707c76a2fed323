-- data.results: rows for readers that contradict what the log recorded when
-- the round or run was completed. Only numbers that the orchestrator recorded
-- are compared, and only where the tables hold the round or run at all: other
-- programs read it in later.
WITH completed AS (
    SELECT
        e.session_id AS session_id,
        e.event_type AS event_type,
        e.round AS number,
        CASE WHEN json_valid(e.metadata) THEN e.metadata END AS facts
    FROM orchestration_events AS e
    WHERE e.id IN (
        SELECT MIN(f.id)
        FROM orchestration_events AS f
        WHERE f.event_type IN ('round_completed', 'map_completed')
            AND typeof(f.round) = 'integer'
        GROUP BY f.session_id, f.event_type, f.round
    )
),
rounds AS (
    SELECT c.session_id, c.event_type, c.number, c.facts, r.*
    FROM completed AS c
    INNER JOIN review_rounds AS r
        ON r.session_id = c.session_id AND r.round_number = c.number
    WHERE c.event_type = 'round_completed'
        AND json_extract(c.facts, '$.source') = 'orchestrator'
),
runs AS (
    SELECT c.session_id, c.event_type, c.number, c.facts, r.*
    FROM completed AS c
    INNER JOIN map_runs AS r
        ON r.session_id = c.session_id AND r.run_number = c.number
    WHERE c.event_type = 'map_completed'
        AND json_extract(c.facts, '$.source') = 'orchestrator'
),
compared AS (
    SELECT
        r.session_id, r.event_type, r.number, 'verdict' AS field,
        r.verdict AS stored, json_extract(r.facts, '$.verdict') AS logged
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'blocker_count',
        r.blocker_count, json_extract(r.facts, '$.blocker_count')
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'should_fix_count',
        r.should_fix_count, json_extract(r.facts, '$.should_fix_count')
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'suggestion_count',
        r.suggestion_count, json_extract(r.facts, '$.suggestion_count')
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of reviewer_outputs', (
            SELECT COUNT(*) FROM reviewer_outputs AS o WHERE o.round_id = r.id
        ), json_extract(r.facts, '$.reviewer_count')
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of review_findings', (
            SELECT COUNT(*)
            FROM reviewer_outputs AS o
            INNER JOIN review_findings AS f ON f.reviewer_output_id = o.id
            WHERE o.round_id = r.id
        ), json_extract(r.facts, '$.total_finding_count')
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of map_sections', (
            SELECT COUNT(*) FROM map_sections AS s WHERE s.map_run_id = r.id
        ), json_extract(r.facts, '$.section_count')
    FROM runs AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of map_files', (
            SELECT COUNT(*)
            FROM map_sections AS s
            INNER JOIN map_files AS f ON f.section_id = s.id
            WHERE s.map_run_id = r.id
        ), json_extract(r.facts, '$.file_count')
    FROM runs AS r
)
SELECT
    p.session_id AS session_id, p.event_type AS event_type,
    p.number AS number, p.field AS field, p.stored AS stored,
    p.logged AS logged
FROM compared AS p
WHERE p.logged IS NOT NULL AND p.stored IS NOT p.logged;
