-- data.values: sessions with a phase, a number or an id that no program can
-- work with.
-- CHECK and triggers refuse them; a writer without these may have left some.
SELECT
    s.id AS session_id,
    s.workflow_type AS workflow_type,
    s.current_phase AS current_phase,
    typeof(s.phase_number) || ' ' || s.phase_number AS phase_number,
    typeof(s.current_round) || ' ' || s.current_round AS current_round,
    typeof(s.current_map_run) || ' ' || s.current_map_run AS current_map_run
FROM sessions AS s
WHERE s.id IS NULL
    OR s.id = ''
    OR typeof(s.phase_number) <> 'integer'
    OR typeof(s.current_round) <> 'integer'
    OR typeof(s.current_map_run) <> 'integer'
    OR s.current_round < 1
    OR s.current_map_run < 1
    OR NOT EXISTS (
        SELECT 1
        FROM workflow_phases AS p
        WHERE p.workflow_type = s.workflow_type AND p.phase = s.current_phase
    );
