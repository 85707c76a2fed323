-- name: PruneSessions :many
-- The closed sessions whose artifacts may go, newest first, and those of
-- which nothing can be said because their last time is none (verdict
-- unreadable). The last event decides; of an empty log, the row. A session
-- goes when its last event lies at least older_than_days full days back and
-- it is not among the keep_sessions newest closed ones; an unreadable time
-- counts as newest. Either condition is NULL when the caller set none.
-- Sessions without artifacts count, and are not named.
-- Index: idx_sessions_status, idx_events_session.
SELECT a.session_id, a.last_at, a.verdict
FROM (
    SELECT
        t.session_id AS session_id,
        t.last_at AS last_at,
        CASE
            WHEN t.last_epoch IS NULL THEN 'unreadable'
            WHEN t.place <= IFNULL(CAST(sqlc.narg(keep_sessions) AS INTEGER), 0)
                THEN 'keep'
            WHEN (CAST(sqlc.arg(now_epoch) AS INTEGER) - t.last_epoch) / 86400
                < IFNULL(
                    CAST(sqlc.narg(older_than_days) AS INTEGER), -1000000000
                )
                THEN 'keep'
            ELSE 'prune'
        END AS verdict,
        t.place AS place
    FROM (
        SELECT
            e.session_id AS session_id,
            e.last_at AS last_at,
            e.last_epoch AS last_epoch,
            ROW_NUMBER() OVER (
                ORDER BY e.last_epoch DESC NULLS FIRST, e.session_id
            ) AS place
        FROM sessions AS s
        INNER JOIN session_idle AS e ON e.session_id = s.id
        WHERE s.status = 'closed' AND s.id IS NOT NULL
    ) AS t
) AS a
WHERE a.verdict <> 'keep'
    AND (
        EXISTS (
            SELECT 1 FROM review_rounds AS r WHERE r.session_id = a.session_id
        )
        OR EXISTS (
            SELECT 1 FROM map_runs AS r WHERE r.session_id = a.session_id
        )
        OR EXISTS (
            SELECT 1
            FROM markdown_artifacts AS m
            WHERE m.session_id = a.session_id
        )
    )
ORDER BY a.place;

-- name: PruneMarkdown :many
-- The stored texts of these sessions (a JSON list of ids).
-- Index: idx_markdown_artifacts_logical.
SELECT m.id
FROM markdown_artifacts AS m
WHERE m.session_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(sessions) AS TEXT)) AS j
)
ORDER BY m.id;

-- name: PruneFindings :many
-- The findings of these sessions on which nobody has written anything; with
-- include_user_data 1, all of them.
SELECT f.id
FROM review_rounds AS r
INNER JOIN reviewer_outputs AS o ON o.round_id = r.id
INNER JOIN review_findings AS f ON f.reviewer_output_id = o.id
WHERE r.session_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(sessions) AS TEXT)) AS j
)
    AND (
        CAST(sqlc.arg(include_user_data) AS INTEGER) = 1
        OR (
            f.id NOT IN (SELECT p.finding_id FROM user_finding_progress AS p)
            AND f.id NOT IN (
                SELECT CAST(n.target_id AS INTEGER)
                FROM user_notes AS n
                WHERE n.target_type = 'finding'
            )
        )
    )
ORDER BY f.id;

-- name: PruneOutputs :many
-- The reviewers of these sessions who have no finding but those that go (a
-- JSON list of ids).
SELECT o.id
FROM review_rounds AS r
INNER JOIN reviewer_outputs AS o ON o.round_id = r.id
WHERE r.session_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(sessions) AS TEXT)) AS j
)
    AND o.id NOT IN (
        SELECT f.reviewer_output_id
        FROM review_findings AS f
        WHERE f.id NOT IN (
            SELECT CAST(j.value AS INTEGER)
            FROM json_each(CAST(sqlc.arg(findings) AS TEXT)) AS j
        )
    )
ORDER BY o.id;

-- name: PruneRounds :many
-- The rounds of these sessions that have no reviewer but those that go, and
-- on which nobody has written anything.
SELECT r.id
FROM review_rounds AS r
WHERE r.session_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(sessions) AS TEXT)) AS j
)
    AND r.id NOT IN (
        SELECT o.round_id
        FROM reviewer_outputs AS o
        WHERE o.id NOT IN (
            SELECT CAST(j.value AS INTEGER)
            FROM json_each(CAST(sqlc.arg(outputs) AS TEXT)) AS j
        )
    )
    AND (
        CAST(sqlc.arg(include_user_data) AS INTEGER) = 1
        OR (
            r.id NOT IN (SELECT p.round_id FROM user_round_progress AS p)
            AND r.id NOT IN (
                SELECT CAST(n.target_id AS INTEGER)
                FROM user_notes AS n
                WHERE n.target_type = 'round'
            )
            AND r.id NOT IN (
                SELECT c.target_id
                FROM chat_conversations AS c
                WHERE c.target_type = 'review_round'
            )
        )
    )
ORDER BY r.id;

-- name: PruneMapFiles :many
-- The files in maps of these sessions on which nobody has written anything.
SELECT f.id
FROM map_runs AS r
INNER JOIN map_sections AS s ON s.map_run_id = r.id
INNER JOIN map_files AS f ON f.section_id = s.id
WHERE r.session_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(sessions) AS TEXT)) AS j
)
    AND (
        CAST(sqlc.arg(include_user_data) AS INTEGER) = 1
        OR (
            f.id NOT IN (SELECT p.map_file_id FROM user_file_progress AS p)
            AND f.id NOT IN (
                SELECT CAST(n.target_id AS INTEGER)
                FROM user_notes AS n
                WHERE n.target_type = 'file'
            )
        )
    )
ORDER BY f.id;

-- name: PruneMapSections :many
-- The sections in maps of these sessions that have no file but those that go,
-- and on which nobody has written anything.
SELECT s.id
FROM map_runs AS r
INNER JOIN map_sections AS s ON s.map_run_id = r.id
WHERE r.session_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(sessions) AS TEXT)) AS j
)
    AND s.id NOT IN (
        SELECT f.section_id
        FROM map_files AS f
        WHERE f.id NOT IN (
            SELECT CAST(j.value AS INTEGER)
            FROM json_each(CAST(sqlc.arg(files) AS TEXT)) AS j
        )
    )
    AND (
        CAST(sqlc.arg(include_user_data) AS INTEGER) = 1
        OR s.id NOT IN (
            SELECT CAST(n.target_id AS INTEGER)
            FROM user_notes AS n
            WHERE n.target_type = 'section'
        )
    )
ORDER BY s.id;

-- name: PruneMapRuns :many
-- The runs of these sessions that have no section but those that go, and on
-- which nobody has written anything.
SELECT r.id
FROM map_runs AS r
WHERE r.session_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(sessions) AS TEXT)) AS j
)
    AND r.id NOT IN (
        SELECT s.map_run_id
        FROM map_sections AS s
        WHERE s.id NOT IN (
            SELECT CAST(j.value AS INTEGER)
            FROM json_each(CAST(sqlc.arg(sections) AS TEXT)) AS j
        )
    )
    AND (
        CAST(sqlc.arg(include_user_data) AS INTEGER) = 1
        OR (
            r.id NOT IN (
                SELECT CAST(n.target_id AS INTEGER)
                FROM user_notes AS n
                WHERE n.target_type = 'run'
            )
            AND r.id NOT IN (
                SELECT c.target_id
                FROM chat_conversations AS c
                WHERE c.target_type = 'map_run'
            )
        )
    )
ORDER BY r.id;

-- name: PruneNotes :many
-- The notes on what goes (JSON lists of ids), to go with it. Notes on a
-- session stay, as it does.
SELECT n.id
FROM user_notes AS n
WHERE (n.target_type = 'finding' AND n.target_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(findings) AS TEXT)) AS j
))
    OR (n.target_type = 'round' AND n.target_id IN (
        SELECT CAST(j.value AS TEXT)
        FROM json_each(CAST(sqlc.arg(rounds) AS TEXT)) AS j
    ))
    OR (n.target_type = 'file' AND n.target_id IN (
        SELECT CAST(j.value AS TEXT)
        FROM json_each(CAST(sqlc.arg(files) AS TEXT)) AS j
    ))
    OR (n.target_type = 'section' AND n.target_id IN (
        SELECT CAST(j.value AS TEXT)
        FROM json_each(CAST(sqlc.arg(sections) AS TEXT)) AS j
    ))
    OR (n.target_type = 'run' AND n.target_id IN (
        SELECT CAST(j.value AS TEXT)
        FROM json_each(CAST(sqlc.arg(runs) AS TEXT)) AS j
    ))
ORDER BY n.id;

-- name: PruneChats :many
-- The conversations about rounds and runs that go, to go with them.
SELECT c.id
FROM chat_conversations AS c
WHERE (c.target_type = 'review_round' AND c.target_id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(rounds) AS TEXT)) AS j
))
    OR (c.target_type = 'map_run' AND c.target_id IN (
        SELECT CAST(j.value AS INTEGER)
        FROM json_each(CAST(sqlc.arg(runs) AS TEXT)) AS j
    ))
ORDER BY c.id;

-- name: PruneChatMessages :many
-- The messages of conversations that go (a JSON list of ids).
SELECT m.id
FROM chat_messages AS m
WHERE m.conversation_id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(conversations) AS TEXT)) AS j
)
ORDER BY m.id;

-- name: PruneFindingProgress :many
-- People's triage of findings that go.
SELECT p.id
FROM user_finding_progress AS p
WHERE p.finding_id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(findings) AS TEXT)) AS j
)
ORDER BY p.id;

-- name: PruneRoundProgress :many
-- People's triage of rounds that go.
SELECT p.id
FROM user_round_progress AS p
WHERE p.round_id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(rounds) AS TEXT)) AS j
)
ORDER BY p.id;

-- name: PruneFileProgress :many
-- People's ticks on files that go.
SELECT p.id
FROM user_file_progress AS p
WHERE p.map_file_id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(files) AS TEXT)) AS j
)
ORDER BY p.id;

-- name: MarkdownDeleteAll :execrows
-- Rows that PruneMarkdown named.
DELETE FROM markdown_artifacts
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: FindingDeleteAll :execrows
-- Rows that PruneFindings named; before OutputDeleteAll, so that no cascade
-- has to look for them without an index.
DELETE FROM review_findings
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: OutputDeleteAll :execrows
-- Rows that PruneOutputs named; after FindingDeleteAll.
DELETE FROM reviewer_outputs
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: RoundDeleteAll :execrows
-- Rows that PruneRounds named; after OutputDeleteAll.
DELETE FROM review_rounds
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: MapFileDeleteAll :execrows
-- Rows that PruneMapFiles named.
DELETE FROM map_files
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: MapSectionDeleteAll :execrows
-- Rows that PruneMapSections named; after MapFileDeleteAll.
DELETE FROM map_sections
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: MapRunDeleteAll :execrows
-- Rows that PruneMapRuns named; after MapSectionDeleteAll.
DELETE FROM map_runs
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: NoteDeleteAll :execrows
-- Rows that PruneNotes named.
DELETE FROM user_notes
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: ChatMessageDeleteAll :execrows
-- Rows that PruneChatMessages named.
DELETE FROM chat_messages
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: ChatDeleteAll :execrows
-- Rows that PruneChats named; after ChatMessageDeleteAll.
DELETE FROM chat_conversations
WHERE id IN (
    SELECT CAST(j.value AS TEXT)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: FindingProgressDeleteAll :execrows
-- Rows that PruneFindingProgress named; before FindingDeleteAll.
DELETE FROM user_finding_progress
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: RoundProgressDeleteAll :execrows
-- Rows that PruneRoundProgress named; before RoundDeleteAll.
DELETE FROM user_round_progress
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: FileProgressDeleteAll :execrows
-- Rows that PruneFileProgress named; before MapFileDeleteAll.
DELETE FROM user_file_progress
WHERE id IN (
    SELECT CAST(j.value AS INTEGER)
    FROM json_each(CAST(sqlc.arg(ids) AS TEXT)) AS j
);

-- name: StatsCounts :one
-- How much the database records, and how many texts stand in it twice.
SELECT
    (SELECT COUNT(*) FROM sessions AS s WHERE s.status = 'active')
        AS active_sessions,
    (SELECT COUNT(*) FROM sessions AS s WHERE s.status = 'closed')
        AS closed_sessions,
    (SELECT COUNT(*) FROM orchestration_events) AS events,
    (SELECT COUNT(*) FROM command_executions) AS executions,
    (SELECT COUNT(*) FROM command_executions AS x WHERE x.finished_at IS NULL)
        AS unfinished_executions,
    (SELECT COUNT(*) FROM (
        SELECT m.id
        FROM markdown_artifacts AS m
        WHERE EXISTS (
            SELECT 1
            FROM markdown_artifacts AS n
            WHERE n.session_id = m.session_id
                AND n.artifact_type = m.artifact_type
                AND IFNULL(n.round_number, -1) = IFNULL(m.round_number, -1)
                AND n.file_path = m.file_path
                AND n.id > m.id
        )
    )) AS markdown_duplicates;

-- name: StatsSessions :many
-- The sessions that hold the most text, largest first: bytes of stored
-- documents and of events, and the number of events.
SELECT
    s.id, s.status, CAST(IFNULL(e.events, 0) AS INTEGER) AS events,
    CAST(IFNULL(m.bytes, 0) + IFNULL(e.bytes, 0) AS INTEGER) AS bytes
FROM sessions AS s
LEFT JOIN (
    SELECT
        a.session_id AS session_id,
        SUM(length(CAST(a.content AS BLOB))) AS bytes
    FROM markdown_artifacts AS a
    GROUP BY a.session_id
) AS m ON m.session_id = s.id
LEFT JOIN (
    SELECT
        v.session_id AS session_id,
        COUNT(*) AS events,
        SUM(IFNULL(length(CAST(v.metadata AS BLOB)), 0)) AS bytes
    FROM orchestration_events AS v
    GROUP BY v.session_id
) AS e ON e.session_id = s.id
WHERE s.id IS NOT NULL
ORDER BY 4 DESC, s.id
LIMIT 5;

-- name: ExportFinds :one
-- Whether a session has a row; 0 or 1.
SELECT COUNT(*) FROM sessions AS s WHERE s.id = sqlc.arg(session_id);

-- name: ExportSessions :many
-- All sessions in the order in which they were begun.
SELECT s.id FROM sessions AS s WHERE s.id IS NOT NULL ORDER BY s.rowid;
