-- What:  Completion is derived from the event log and guarded.
-- Why:   A flag that anybody may set cannot say that work is finished.
-- Rows:  None touched here. The program repairs old sessions in the same
--        transaction (reconcile).
-- Back:  Reversible by dropping the view, the triggers and the indexes.

CREATE INDEX idx_sessions_status ON sessions(status);

CREATE INDEX idx_events_session_created
    ON orchestration_events(session_id, created_at);

CREATE TRIGGER trg_events_known_type
BEFORE INSERT ON orchestration_events
WHEN NEW.event_type NOT IN (
    'session_created', 'session_resumed', 'round_started',
    'phase_transition', 'round_completed', 'map_completed',
    'session_closed', 'session_aborted', 'session_auto_closed_stale',
    'session_synced', 'session_legacy_import'
)
BEGIN
    -- The log has a closed vocabulary, so that readers can rely on it.
    SELECT RAISE(ABORT, 'unknown orchestration_events.event_type');
END;

CREATE TRIGGER trg_sessions_close_guard
BEFORE UPDATE OF status ON sessions
WHEN NEW.status = 'closed'
    AND OLD.status <> 'closed'
    AND NOT EXISTS (
        SELECT 1
        FROM orchestration_events AS e
        WHERE e.session_id = NEW.id
            AND (
                (
                    NEW.workflow_type = 'review'
                    AND e.event_type = 'round_completed'
                    AND e.round = NEW.current_round
                )
                OR (
                    NEW.workflow_type = 'map'
                    AND e.event_type = 'map_completed'
                    AND e.round = NEW.current_map_run
                )
                OR e.event_type IN (
                    'session_aborted', 'session_auto_closed_stale',
                    'session_synced', 'session_legacy_import'
                )
            )
    )
BEGIN
    -- Closing needs proof: a completed round or run, or a stated reason.
    SELECT RAISE(ABORT, 'cannot close session without a completed round/run or an explicit reason event');
END;

CREATE VIEW session_completeness AS
SELECT
    s.id AS session_id,
    s.workflow_type AS workflow_type,
    s.status AS status,
    s.current_round AS current_round,
    s.current_map_run AS current_map_run,
    -- 1 when the log holds the event that completes the current round or run.
    CASE WHEN EXISTS (
        SELECT 1
        FROM orchestration_events AS e
        WHERE e.session_id = s.id
            AND (
                (
                    s.workflow_type = 'review'
                    AND e.event_type = 'round_completed'
                    AND e.round = s.current_round
                )
                OR (
                    s.workflow_type = 'map'
                    AND e.event_type = 'map_completed'
                    AND e.round = s.current_map_run
                )
            )
    ) THEN 1 ELSE 0 END AS has_terminal_artifact,
    CASE WHEN s.status = 'closed' THEN 1 ELSE 0 END AS marked_closed,
    -- 1 when no process of the session is unfinished.
    CASE WHEN NOT EXISTS (
        SELECT 1
        FROM command_executions AS c
        WHERE c.workflow_id = s.id AND c.finished_at IS NULL
    ) THEN 1 ELSE 0 END AS dependents_settled,
    CASE
        WHEN s.status = 'closed' AND EXISTS (
            SELECT 1
            FROM orchestration_events AS e
            WHERE e.session_id = s.id
                AND (
                    (
                        s.workflow_type = 'review'
                        AND e.event_type = 'round_completed'
                        AND e.round = s.current_round
                    )
                    OR (
                        s.workflow_type = 'map'
                        AND e.event_type = 'map_completed'
                        AND e.round = s.current_map_run
                    )
                )
        ) THEN 'complete'
        WHEN s.status = 'closed' THEN 'closed_without_artifact'
        WHEN EXISTS (
            SELECT 1
            FROM command_executions AS c
            WHERE c.workflow_id = s.id AND c.finished_at IS NULL
        ) THEN 'in_flight'
        ELSE 'open_no_artifact'
    END AS completeness_state
FROM sessions AS s;

INSERT INTO schema_version (version, description)
VALUES (12, 'completion derived from the log and guarded');
