-- What:  One row for each markdown document, NULL round included.
-- Why:   UNIQUE takes two NULLs for different, so a replace never matched and
--        one document could be stored hundreds of times.
-- Rows:  Older copies of the same document are deleted, the newest stays.
-- Back:  Not reversible; the snapshot of version 13 holds the copies.

DELETE FROM markdown_artifacts
WHERE id NOT IN (
    SELECT MAX(m.id)
    FROM markdown_artifacts AS m
    GROUP BY
        m.session_id, m.artifact_type, IFNULL(m.round_number, -1),
        m.file_path
);

CREATE UNIQUE INDEX idx_markdown_artifacts_logical
    ON markdown_artifacts(
        session_id, artifact_type, IFNULL(round_number, -1), file_path
    );

INSERT INTO schema_version (version, description)
VALUES (14, 'one row for each markdown document');
