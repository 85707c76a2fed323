-- data.duplicates: one document of a session stored several times.
-- A UNIQUE key with a NULL part never matches; the index
-- idx_markdown_artifacts_logical counts a missing round as one value.
SELECT
    m.session_id AS session_id,
    m.artifact_type AS artifact_type,
    m.round_number AS round_number,
    m.file_path AS file_path,
    count(*) AS copies
FROM markdown_artifacts AS m
GROUP BY
    m.session_id, m.artifact_type, IFNULL(m.round_number, -1), m.file_path
HAVING count(*) > 1;
