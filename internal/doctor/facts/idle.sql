-- Active sessions that no process works for, and for how long nothing happened
-- in them. A time that is none or lies ahead stands in the probe data_times.sql.
SELECT
    i.session_id AS session_id,
    s.current_phase AS current_phase,
    c.has_terminal_artifact AS is_complete,
    i.last_at AS last_at,
    unixepoch('now') - i.last_epoch AS idle_seconds,
    -- 1 while somebody may carry the round on, by the lease's own length.
    IFNULL((
        SELECT l.in_force
        FROM leases AS l
        WHERE l.session_id = i.session_id AND l.is_newest = 1
    ), 0) AS is_leased
FROM session_idle AS i
INNER JOIN sessions AS s ON s.id = i.session_id
INNER JOIN session_completeness AS c ON c.session_id = i.session_id
WHERE s.status = 'active'
    AND c.dependents_settled = 1
    AND unixepoch('now') > i.last_epoch
ORDER BY i.session_id;
