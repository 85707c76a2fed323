-- What:  session_completeness and the close guard go by the current round
--        that the log decides, and an old reason no longer counts.
-- Why:   With the guard of version 12 an abort of last week let a re-opened
--        session close silently, and lowering current_round made an
--        unfinished round read as the finished one before it.
-- Rows:  None touched. Names and columns stay as other programs know them.
-- Back:  Reversible by the view and the trigger of version 12.

DROP TRIGGER trg_sessions_close_guard;

DROP VIEW session_completeness;

CREATE VIEW session_completeness AS
-- Whether a session is really finished. The one definition of completion.
SELECT
    p.session_id AS session_id,
    p.workflow_type AS workflow_type,
    p.status AS status,
    p.current_round AS current_round,
    p.current_map_run AS current_map_run,
    p.has_terminal_artifact AS has_terminal_artifact,
    p.marked_closed AS marked_closed,
    p.dependents_settled AS dependents_settled,
    CASE
        WHEN p.marked_closed = 1 AND p.has_terminal_artifact = 1
            THEN 'complete'
        WHEN p.marked_closed = 1 THEN 'closed_without_artifact'
        WHEN p.dependents_settled = 0 THEN 'in_flight'
        ELSE 'open_no_artifact'
    END AS completeness_state
FROM (
    SELECT
        s.id AS session_id,
        s.workflow_type AS workflow_type,
        s.status AS status,
        c.current_round AS current_round,
        c.current_map_run AS current_map_run,
        -- 1 when the log holds the event that completes the current round
        -- or run.
        CASE WHEN EXISTS (
            SELECT 1
            FROM orchestration_events AS e
            WHERE e.session_id = s.id
                AND e.event_type = CASE s.workflow_type
                    WHEN 'map' THEN 'map_completed' ELSE 'round_completed'
                END
                AND e.round = CASE s.workflow_type
                    WHEN 'map' THEN c.current_map_run ELSE c.current_round
                END
        ) THEN 1 ELSE 0 END AS has_terminal_artifact,
        CASE WHEN s.status = 'closed' THEN 1 ELSE 0 END AS marked_closed,
        -- 1 when no process of the session is unfinished.
        CASE WHEN EXISTS (
            SELECT 1
            FROM command_executions AS x
            WHERE x.workflow_id = s.id AND x.finished_at IS NULL
        ) THEN 0 ELSE 1 END AS dependents_settled
    FROM sessions AS s
    INNER JOIN session_current AS c ON c.session_id = s.id
) AS p;

CREATE TRIGGER trg_sessions_close_guard
AFTER UPDATE OF status ON sessions
WHEN NEW.status = 'closed' AND OLD.status <> 'closed'
BEGIN
    -- Closing needs proof: the current round or run is complete, or a reason
    -- is on record that is newer than the last opening of the session. It
    -- runs after the update, so that the view sees the row as it would stand.
    SELECT RAISE(ABORT, 'cannot close session without a completed round/run or an explicit reason event')
    WHERE NOT EXISTS (
        SELECT 1
        FROM session_completeness AS c
        WHERE c.session_id = NEW.id AND c.has_terminal_artifact = 1
    )
    AND NOT EXISTS (
        SELECT 1 FROM valid_reasons AS r WHERE r.session_id = NEW.id
    );
END;
