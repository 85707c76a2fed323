-- data.results: rows for readers that contradict what the log recorded when
-- the round or run was completed. Only numbers that the orchestrator recorded
-- are compared, and only where the tables hold the round or run at all: other
-- programs read it in later. A row that a newer payload does not have stays if
-- somebody wrote on it: more rows than were logged are right as far as people
-- wrote on them, or on what is in them.
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
written_findings AS (
    SELECT f.id, f.reviewer_output_id
    FROM review_findings AS f
    WHERE f.id IN (SELECT p.finding_id FROM user_finding_progress AS p)
        OR CAST(f.id AS TEXT) IN (
            SELECT n.target_id FROM user_notes AS n
            WHERE n.target_type = 'finding'
        )
),
written_files AS (
    SELECT f.id, f.section_id
    FROM map_files AS f
    WHERE f.id IN (SELECT p.map_file_id FROM user_file_progress AS p)
        OR CAST(f.id AS TEXT) IN (
            SELECT n.target_id FROM user_notes AS n
            WHERE n.target_type = 'file'
        )
),
compared AS (
    SELECT
        r.session_id, r.event_type, r.number, 'verdict' AS field,
        r.verdict AS stored, json_extract(r.facts, '$.verdict') AS logged,
        -- How many of the stored rows people wrote on.
        0 AS written
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'blocker_count',
        r.blocker_count, json_extract(r.facts, '$.blocker_count'), 0
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'should_fix_count',
        r.should_fix_count, json_extract(r.facts, '$.should_fix_count'), 0
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'suggestion_count',
        r.suggestion_count, json_extract(r.facts, '$.suggestion_count'), 0
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of reviewer_outputs', (
            SELECT COUNT(*) FROM reviewer_outputs AS o WHERE o.round_id = r.id
        ), json_extract(r.facts, '$.reviewer_count'), (
            SELECT COUNT(*)
            FROM reviewer_outputs AS o
            WHERE o.round_id = r.id
                AND o.id IN (
                    SELECT w.reviewer_output_id FROM written_findings AS w
                )
        )
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of review_findings', (
            SELECT COUNT(*)
            FROM reviewer_outputs AS o
            INNER JOIN review_findings AS f ON f.reviewer_output_id = o.id
            WHERE o.round_id = r.id
        ), json_extract(r.facts, '$.total_finding_count'), (
            SELECT COUNT(*)
            FROM reviewer_outputs AS o
            INNER JOIN written_findings AS w ON w.reviewer_output_id = o.id
            WHERE o.round_id = r.id
        )
    FROM rounds AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of map_sections', (
            SELECT COUNT(*) FROM map_sections AS s WHERE s.map_run_id = r.id
        ), json_extract(r.facts, '$.section_count'), (
            SELECT COUNT(*)
            FROM map_sections AS s
            WHERE s.map_run_id = r.id
                AND (
                    s.id IN (SELECT w.section_id FROM written_files AS w)
                    OR CAST(s.id AS TEXT) IN (
                        SELECT n.target_id FROM user_notes AS n
                        WHERE n.target_type = 'section'
                    )
                )
        )
    FROM runs AS r
    UNION ALL
    SELECT
        r.session_id, r.event_type, r.number, 'rows of map_files', (
            SELECT COUNT(*)
            FROM map_sections AS s
            INNER JOIN map_files AS f ON f.section_id = s.id
            WHERE s.map_run_id = r.id
        ), json_extract(r.facts, '$.file_count'), (
            SELECT COUNT(*)
            FROM map_sections AS s
            INNER JOIN written_files AS w ON w.section_id = s.id
            WHERE s.map_run_id = r.id
        )
    FROM runs AS r
)
SELECT
    p.session_id AS session_id, p.event_type AS event_type,
    p.number AS number, p.field AS field, p.stored AS stored,
    p.logged AS logged
FROM compared AS p
WHERE p.logged IS NOT NULL
    AND p.stored IS NOT p.logged
    AND NOT (p.written > 0 AND p.stored - p.logged BETWEEN 1 AND p.written);
