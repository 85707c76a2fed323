-- What:  Names the rows derived from files that nobody needs any more.
-- Why:   Programs that had foreign keys switched off left them behind. What
--        may be taken away is said once, for those who look and those who do.
-- Rows:  None touched.
-- Back:  Reversible by dropping the view.

CREATE VIEW orphan_artifacts AS
-- Derived rows of sessions that are not there, on which nothing hangs: neither
-- other derived rows nor what people wrote. To take one away may leave what it
-- hung on without anything, which then stands here too.
SELECT 'review_findings' AS table_name, f.id AS row_id
FROM review_findings AS f
WHERE NOT EXISTS (
        SELECT 1
        FROM reviewer_outputs AS o
        INNER JOIN review_rounds AS r ON r.id = o.round_id
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE o.id = f.reviewer_output_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_finding_progress AS p
        WHERE p.finding_id = f.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'finding' AND n.target_id = CAST(f.id AS TEXT)
    )
UNION ALL
SELECT 'reviewer_outputs', o.id
FROM reviewer_outputs AS o
WHERE NOT EXISTS (
        SELECT 1
        FROM review_rounds AS r
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE r.id = o.round_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM review_findings AS f
        WHERE f.reviewer_output_id = o.id
    )
UNION ALL
SELECT 'review_rounds', r.id
FROM review_rounds AS r
WHERE NOT EXISTS (
        SELECT 1
        FROM sessions AS s
        WHERE s.id = r.session_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM reviewer_outputs AS o
        WHERE o.round_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_round_progress AS p
        WHERE p.round_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM chat_conversations AS c
        WHERE c.target_type = 'review_round' AND c.target_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'round' AND n.target_id = CAST(r.id AS TEXT)
    )
UNION ALL
SELECT 'map_files', f.id
FROM map_files AS f
WHERE NOT EXISTS (
        SELECT 1
        FROM map_sections AS x
        INNER JOIN map_runs AS r ON r.id = x.map_run_id
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE x.id = f.section_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_file_progress AS p
        WHERE p.map_file_id = f.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'file' AND n.target_id = CAST(f.id AS TEXT)
    )
UNION ALL
SELECT 'map_sections', x.id
FROM map_sections AS x
WHERE NOT EXISTS (
        SELECT 1
        FROM map_runs AS r
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE r.id = x.map_run_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM map_files AS f
        WHERE f.section_id = x.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'section' AND n.target_id = CAST(x.id AS TEXT)
    )
UNION ALL
SELECT 'map_runs', r.id
FROM map_runs AS r
WHERE NOT EXISTS (
        SELECT 1
        FROM sessions AS s
        WHERE s.id = r.session_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM map_sections AS x
        WHERE x.map_run_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM chat_conversations AS c
        WHERE c.target_type = 'map_run' AND c.target_id = r.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'run' AND n.target_id = CAST(r.id AS TEXT)
    )
UNION ALL
SELECT 'markdown_artifacts', m.id
FROM markdown_artifacts AS m
WHERE NOT EXISTS (
    SELECT 1
    FROM sessions AS s
    WHERE s.id = m.session_id
);
