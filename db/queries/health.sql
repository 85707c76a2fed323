-- name: HealthCounts :one
-- How much the audit trail holds, and how many stored documents have a newer
-- copy of themselves. Works at every schema version.
SELECT
    (SELECT COUNT(*) FROM orchestration_events) AS events,
    (SELECT COUNT(*) FROM sessions) AS sessions,
    CAST((
        SELECT IFNULL(SUM(g.copies - 1), 0)
        FROM (
            SELECT COUNT(*) AS copies
            FROM markdown_artifacts AS m
            GROUP BY
                m.session_id, m.artifact_type, IFNULL(m.round_number, -1),
                m.file_path
        ) AS g
    ) AS INTEGER) AS markdown_duplicates;
