-- name: RoundUpsert :one
-- What a completed round said. The row's id stays when another writer has
-- read the round in before, and with it people's triage of the round.
INSERT INTO review_rounds (
    session_id, round_number, verdict, blocker_count, suggestion_count,
    should_fix_count, final_md_path, parsed_at, source, reviewer_count,
    total_finding_count
) VALUES (
    sqlc.arg(session_id), sqlc.arg(round_number), sqlc.arg(verdict),
    sqlc.arg(blocker_count), sqlc.arg(suggestion_count),
    sqlc.arg(should_fix_count), sqlc.narg(final_md_path), sqlc.arg(now),
    'orchestrator', sqlc.arg(reviewer_count), sqlc.arg(total_finding_count)
)
ON CONFLICT (session_id, round_number) DO UPDATE
SET
    verdict = excluded.verdict,
    blocker_count = excluded.blocker_count,
    suggestion_count = excluded.suggestion_count,
    should_fix_count = excluded.should_fix_count,
    final_md_path = IFNULL(excluded.final_md_path, final_md_path),
    parsed_at = excluded.parsed_at,
    source = excluded.source,
    reviewer_count = excluded.reviewer_count,
    total_finding_count = excluded.total_finding_count
RETURNING id;

-- name: OutputUpsert :one
-- One reviewer's part of a round.
INSERT INTO reviewer_outputs (
    round_id, reviewer_type, instance_number, file_path, finding_count,
    parsed_at
) VALUES (
    sqlc.arg(round_id), sqlc.arg(reviewer_type), sqlc.arg(instance_number),
    sqlc.arg(file_path), sqlc.arg(finding_count), sqlc.arg(now)
)
ON CONFLICT (round_id, reviewer_type, instance_number) DO UPDATE
SET
    file_path = excluded.file_path,
    finding_count = excluded.finding_count,
    parsed_at = excluded.parsed_at
RETURNING id;

-- name: FindingsOfRound :many
-- The findings that stand for a round, to be matched with its payload; those
-- that people wrote on first.
SELECT
    f.id, o.reviewer_type,
    CAST(CASE
        WHEN typeof(o.instance_number) = 'integer' THEN o.instance_number
        ELSE 0
    END AS INTEGER) AS instance_number,
    f.title, f.severity, f.file_path,
    CAST(CASE
        WHEN typeof(f.line_start) = 'integer' THEN f.line_start ELSE 0
    END AS INTEGER) AS line_start,
    f.reviewer_output_id,
    CAST(
        EXISTS (
            SELECT 1
            FROM user_finding_progress AS p
            WHERE p.finding_id = f.id
        )
        OR EXISTS (
            SELECT 1
            FROM user_notes AS n
            WHERE n.target_type = 'finding'
                AND n.target_id = CAST(f.id AS TEXT)
        )
    AS BOOLEAN) AS has_user_data
FROM review_findings AS f
INNER JOIN reviewer_outputs AS o ON o.id = f.reviewer_output_id
WHERE o.round_id = sqlc.arg(round_id)
ORDER BY has_user_data DESC, f.id;

-- name: FindingUpsert :execrows
-- A finding; with the id of the row that stands for it already, if any, so
-- that triage and notes stay with it.
INSERT INTO review_findings (
    id, reviewer_output_id, title, severity, file_path, line_start,
    line_end, summary, is_blocker, parsed_at, category
) VALUES (
    sqlc.narg(id), sqlc.arg(reviewer_output_id), sqlc.arg(title),
    sqlc.arg(severity), sqlc.narg(file_path), sqlc.narg(line_start),
    sqlc.narg(line_end), sqlc.arg(summary), sqlc.arg(is_blocker),
    sqlc.arg(now), sqlc.arg(category)
)
ON CONFLICT (id) DO UPDATE
SET
    reviewer_output_id = excluded.reviewer_output_id,
    severity = excluded.severity,
    line_start = excluded.line_start,
    line_end = excluded.line_end,
    summary = excluded.summary,
    is_blocker = excluded.is_blocker,
    parsed_at = excluded.parsed_at,
    category = excluded.category;

-- name: FindingDelete :execrows
-- A finding that the round's own payload does not have.
DELETE FROM review_findings
WHERE id = sqlc.arg(id);

-- name: OutputsOfRound :many
-- The reviewers that stand for a round, to be matched with its payload.
SELECT o.id
FROM reviewer_outputs AS o
WHERE o.round_id = sqlc.arg(round_id)
ORDER BY o.id;

-- name: OutputDelete :execrows
-- A reviewer that the round's own payload does not have.
DELETE FROM reviewer_outputs
WHERE id = sqlc.arg(id);

-- name: MapRunUpsert :one
-- What a completed map run said.
INSERT INTO map_runs (
    session_id, run_number, file_count, map_md_path, parsed_at, source,
    section_count
) VALUES (
    sqlc.arg(session_id), sqlc.arg(run_number), sqlc.arg(file_count),
    sqlc.narg(map_md_path), sqlc.arg(now), 'orchestrator',
    sqlc.arg(section_count)
)
ON CONFLICT (session_id, run_number) DO UPDATE
SET
    file_count = excluded.file_count,
    map_md_path = IFNULL(excluded.map_md_path, map_md_path),
    parsed_at = excluded.parsed_at,
    source = excluded.source,
    section_count = excluded.section_count
RETURNING id;

-- name: MapSectionUpsert :one
-- One section of a map run.
INSERT INTO map_sections (
    map_run_id, section_number, title, description, file_count,
    display_order
) VALUES (
    sqlc.arg(map_run_id), sqlc.arg(section_number), sqlc.arg(title),
    sqlc.narg(description), sqlc.arg(file_count), sqlc.arg(display_order)
)
ON CONFLICT (map_run_id, section_number) DO UPDATE
SET
    title = excluded.title,
    description = excluded.description,
    file_count = excluded.file_count,
    display_order = excluded.display_order
RETURNING id;

-- name: MapFileUpsert :one
-- One file of a section; its id stays, and with it people's ticks.
INSERT INTO map_files (
    section_id, file_path, role, lines_added, lines_deleted, display_order
) VALUES (
    sqlc.arg(section_id), sqlc.arg(file_path), sqlc.arg(role),
    sqlc.arg(lines_added), sqlc.arg(lines_deleted), sqlc.arg(display_order)
)
ON CONFLICT (section_id, file_path) DO UPDATE
SET
    role = excluded.role,
    lines_added = excluded.lines_added,
    lines_deleted = excluded.lines_deleted,
    display_order = excluded.display_order
RETURNING id;

-- name: MapFilesOfRun :many
-- The files that stand for a run, to be matched with its payload; those that
-- people wrote on first.
SELECT
    f.id, f.section_id, f.file_path,
    CAST(
        EXISTS (
            SELECT 1
            FROM user_file_progress AS p
            WHERE p.map_file_id = f.id
        )
        OR EXISTS (
            SELECT 1
            FROM user_notes AS n
            WHERE n.target_type = 'file'
                AND n.target_id = CAST(f.id AS TEXT)
        )
    AS BOOLEAN) AS has_user_data
FROM map_files AS f
INNER JOIN map_sections AS s ON s.id = f.section_id
WHERE s.map_run_id = sqlc.arg(map_run_id)
ORDER BY has_user_data DESC, f.id;

-- name: MapFileMove :execrows
-- A file that stands in another section now; its id stays, and with it
-- people's ticks and notes. The caller has seen that its new place is free.
UPDATE map_files
SET section_id = sqlc.arg(section_id)
WHERE id = sqlc.arg(id);

-- name: MapFileDelete :execrows
-- A file that the run's own payload does not have.
DELETE FROM map_files
WHERE id = sqlc.arg(id);

-- name: MapSectionsOfRun :many
-- The sections that stand for a run, to be matched with its payload, and
-- whether people wrote notes on them.
SELECT
    s.id, CAST(s.section_number AS INTEGER) AS section_number,
    EXISTS (
        SELECT 1
        FROM user_notes AS n
        WHERE n.target_type = 'section'
            AND n.target_id = CAST(s.id AS TEXT)
    ) AS has_user_data
FROM map_sections AS s
WHERE s.map_run_id = sqlc.arg(map_run_id)
ORDER BY s.id;

-- name: MapSectionDelete :execrows
-- A section that the run's own payload does not have.
DELETE FROM map_sections
WHERE id = sqlc.arg(id);
