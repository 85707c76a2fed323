-- name: LeaseNewest :one
-- The newest lease of the current round or run since that was last opened, in
-- force or not, with its token. No row when nobody took it over.
-- Index: idx_events_session_type.
SELECT
    l.event_id, l.owner, l.lease_seconds, l.last_sign_at, l.last_sign_epoch,
    l.owner_ended,
    CAST(IFNULL(CASE WHEN json_valid(e.metadata)
        THEN json_extract(e.metadata, '$.token')
    END, '') AS TEXT) AS token
FROM leases AS l
INNER JOIN orchestration_events AS e ON e.id = l.event_id
WHERE l.session_id = sqlc.arg(session_id)
    AND l.is_newest = 1;

-- name: LeaseAttempts :one
-- How often the current round or run was taken over to be carried on.
-- Index: idx_events_session_type.
SELECT CAST(COUNT(*) AS INTEGER) AS attempts
FROM leases AS l
WHERE l.session_id = sqlc.arg(session_id)
    AND l.is_attempt = 1;
