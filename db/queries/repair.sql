-- name: OrphanArtifactAny :one
-- Whether there is a derived row that nobody needs any more.
SELECT EXISTS (SELECT 1 FROM orphan_artifacts AS o) AS found;

-- name: OrphanArtifactCount :one
-- How many derived rows of one table nobody needs any more, as things stand.
SELECT COUNT(*) AS orphans
FROM orphan_artifacts AS o
WHERE o.table_name = CAST(sqlc.arg(table_name) AS TEXT);

-- name: MarkdownDuplicateCount :one
-- How many documents are stored again with a higher id.
SELECT COUNT(*) AS duplicates
FROM markdown_artifacts AS m
WHERE EXISTS (
    SELECT 1
    FROM markdown_artifacts AS n
    WHERE n.session_id = m.session_id
        AND n.artifact_type = m.artifact_type
        AND IFNULL(n.round_number, -1) = IFNULL(m.round_number, -1)
        AND n.file_path = m.file_path
        AND n.id > m.id
);

-- name: FindingDeleteOrphans :execrows
-- Findings that nobody needs any more. The caller deletes from the bottom up:
-- findings, reviewers, rounds; files, sections, runs.
DELETE FROM review_findings
WHERE id IN (
    SELECT o.row_id
    FROM orphan_artifacts AS o
    WHERE o.table_name = 'review_findings'
);

-- name: OutputDeleteOrphans :execrows
-- Reviewers that nobody needs any more.
DELETE FROM reviewer_outputs
WHERE id IN (
    SELECT o.row_id
    FROM orphan_artifacts AS o
    WHERE o.table_name = 'reviewer_outputs'
);

-- name: RoundDeleteOrphans :execrows
-- Rounds that nobody needs any more.
DELETE FROM review_rounds
WHERE id IN (
    SELECT o.row_id
    FROM orphan_artifacts AS o
    WHERE o.table_name = 'review_rounds'
);

-- name: MapFileDeleteOrphans :execrows
-- Files of maps that nobody needs any more.
DELETE FROM map_files
WHERE id IN (
    SELECT o.row_id
    FROM orphan_artifacts AS o
    WHERE o.table_name = 'map_files'
);

-- name: MapSectionDeleteOrphans :execrows
-- Sections of maps that nobody needs any more.
DELETE FROM map_sections
WHERE id IN (
    SELECT o.row_id
    FROM orphan_artifacts AS o
    WHERE o.table_name = 'map_sections'
);

-- name: MapRunDeleteOrphans :execrows
-- Runs of maps that nobody needs any more.
DELETE FROM map_runs
WHERE id IN (
    SELECT o.row_id
    FROM orphan_artifacts AS o
    WHERE o.table_name = 'map_runs'
);

-- name: MarkdownDeleteOrphans :execrows
-- Documents that nobody needs any more.
DELETE FROM markdown_artifacts
WHERE id IN (
    SELECT o.row_id
    FROM orphan_artifacts AS o
    WHERE o.table_name = 'markdown_artifacts'
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
