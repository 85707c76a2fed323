-- name: FindingDeleteOrphans :execrows
-- Findings of a round that no session has any more. Those on which somebody
-- wrote stay. The caller deletes from the bottom up: findings, outputs, rounds;
-- files, sections, runs.
DELETE FROM review_findings
WHERE NOT EXISTS (
        SELECT 1
        FROM reviewer_outputs AS o
        INNER JOIN review_rounds AS r ON r.id = o.round_id
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE o.id = review_findings.reviewer_output_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_finding_progress AS p
        WHERE p.finding_id = review_findings.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'finding'
            AND n.target_id = CAST(review_findings.id AS TEXT)
    );

-- name: OutputDeleteOrphans :execrows
-- Reviewers of a round that no session has any more, once without findings.
DELETE FROM reviewer_outputs
WHERE NOT EXISTS (
        SELECT 1
        FROM review_rounds AS r
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE r.id = reviewer_outputs.round_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM review_findings AS f
        WHERE f.reviewer_output_id = reviewer_outputs.id
    );

-- name: RoundDeleteOrphans :execrows
-- Rounds that no session has any more, once without reviewers. Those on which
-- somebody wrote stay.
DELETE FROM review_rounds
WHERE NOT EXISTS (
        SELECT 1
        FROM sessions AS s
        WHERE s.id = review_rounds.session_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM reviewer_outputs AS o
        WHERE o.round_id = review_rounds.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_round_progress AS p
        WHERE p.round_id = review_rounds.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM chat_conversations AS c
        WHERE c.target_type = 'review_round' AND c.target_id = review_rounds.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'round'
            AND n.target_id = CAST(review_rounds.id AS TEXT)
    );

-- name: MapFileDeleteOrphans :execrows
-- Files of a map run that no session has any more. Those on which somebody
-- wrote stay.
DELETE FROM map_files
WHERE NOT EXISTS (
        SELECT 1
        FROM map_sections AS x
        INNER JOIN map_runs AS r ON r.id = x.map_run_id
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE x.id = map_files.section_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_file_progress AS p
        WHERE p.map_file_id = map_files.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'file'
            AND n.target_id = CAST(map_files.id AS TEXT)
    );

-- name: MapSectionDeleteOrphans :execrows
-- Sections of a map run that no session has any more, once without files.
-- Those on which somebody wrote stay.
DELETE FROM map_sections
WHERE NOT EXISTS (
        SELECT 1
        FROM map_runs AS r
        INNER JOIN sessions AS s ON s.id = r.session_id
        WHERE r.id = map_sections.map_run_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM map_files AS f
        WHERE f.section_id = map_sections.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'section'
            AND n.target_id = CAST(map_sections.id AS TEXT)
    );

-- name: MapRunDeleteOrphans :execrows
-- Map runs that no session has any more, once without sections. Those on which
-- somebody wrote stay.
DELETE FROM map_runs
WHERE NOT EXISTS (
        SELECT 1
        FROM sessions AS s
        WHERE s.id = map_runs.session_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM map_sections AS x
        WHERE x.map_run_id = map_runs.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM chat_conversations AS c
        WHERE c.target_type = 'map_run' AND c.target_id = map_runs.id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'run'
            AND n.target_id = CAST(map_runs.id AS TEXT)
    );

-- name: MarkdownDeleteOrphans :execrows
-- Documents of sessions that are not there.
DELETE FROM markdown_artifacts
WHERE NOT EXISTS (
    SELECT 1
    FROM sessions AS s
    WHERE s.id = markdown_artifacts.session_id
);

-- name: MarkdownDeleteDuplicates :execrows
-- Documents that are stored again with a higher id.
DELETE FROM markdown_artifacts
WHERE EXISTS (
    SELECT 1
    FROM markdown_artifacts AS n
    WHERE n.session_id = markdown_artifacts.session_id
        AND n.artifact_type = markdown_artifacts.artifact_type
        AND IFNULL(n.round_number, -1)
            = IFNULL(markdown_artifacts.round_number, -1)
        AND n.file_path = markdown_artifacts.file_path
        AND n.id > markdown_artifacts.id
);
