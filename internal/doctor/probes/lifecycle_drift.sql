-- lifecycle.drift: sessions whose row says something else than their log.
-- The log is right. Those that are closed without proof stand in
-- lifecycle.unproven.
SELECT
    d.session_id AS session_id,
    d.field AS field,
    d.row_value AS row_value,
    d.log_value AS log_value
FROM session_drift AS d
INNER JOIN session_completeness AS c ON c.session_id = d.session_id
WHERE NOT (
    d.field = 'status' AND c.marked_closed = 1 AND c.has_terminal_artifact = 0
);
