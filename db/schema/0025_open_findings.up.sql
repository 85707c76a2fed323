-- What:  What a review still asks for, and an index to its findings.
-- Why:   The findings of the latest completed round are the work list;
--        earlier rounds are history, and need not be read for it.
-- Rows:  None touched.
-- Back:  Reversible by dropping the view and the index.

CREATE INDEX idx_findings_output ON review_findings(reviewer_output_id);

CREATE VIEW open_findings AS
-- Findings of the latest completed round of each session, without those that
-- a person has marked as fixed or as not to be fixed.
SELECT
    r.session_id AS session_id,
    r.round_number AS round,
    f.id AS finding_id,
    o.reviewer_type || '-' || o.instance_number AS reviewer,
    -- Another writer may have read the round in without categories.
    CASE
        WHEN f.category IS NOT NULL THEN f.category
        WHEN f.is_blocker = 1 THEN 'blocker'
        ELSE 'suggestion'
    END AS category,
    f.severity AS severity,
    f.title AS title,
    f.file_path AS file_path,
    f.line_start AS line_start,
    f.line_end AS line_end,
    f.summary AS summary,
    -- unread while nobody has looked at it.
    CASE WHEN p.status IS NULL THEN 'unread' ELSE p.status END AS triage
FROM review_rounds AS r
INNER JOIN reviewer_outputs AS o ON o.round_id = r.id
INNER JOIN review_findings AS f ON f.reviewer_output_id = o.id
LEFT JOIN user_finding_progress AS p ON p.finding_id = f.id
WHERE r.round_number = (
        SELECT MAX(e.round)
        FROM orchestration_events AS e
        WHERE e.session_id = r.session_id
            AND e.event_type = 'round_completed'
            AND typeof(e.round) = 'integer'
    )
    AND IFNULL(p.status, '') NOT IN ('fixed', 'wont_fix');
