-- data.metadata: events whose further facts are no JSON.
-- Views read them as if there were none. Nobody reads those of a plain move.
SELECT e.id AS event_id, e.session_id AS session_id, e.event_type AS event_type
FROM orchestration_events AS e
WHERE e.event_type IN (
        'session_created', 'session_resumed', 'round_started',
        'round_completed', 'map_completed', 'session_closed',
        'session_aborted', 'session_auto_closed_stale', 'session_synced',
        'session_legacy_import'
    )
    AND e.metadata IS NOT NULL
    AND json_valid(e.metadata) = 0;
