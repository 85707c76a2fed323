-- lifecycle.active: the active sessions, where there are several.
-- A command that is told none of them then stops and asks.
SELECT s.id AS session_id, s.branch AS branch, s.current_phase AS current_phase
FROM sessions AS s
WHERE s.status = 'active'
    AND s.id IS NOT NULL
    AND (
        SELECT count(*)
        FROM sessions AS a
        WHERE a.status = 'active' AND a.id IS NOT NULL
    ) > 1;
