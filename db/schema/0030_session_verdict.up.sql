-- What:  The verdict of the latest completed round of each session.
-- Why:   It stands in the metadata of an event, which everybody had to look
--        for and to take apart.
-- Rows:  None touched.
-- Back:  Reversible by dropping the view.

CREATE VIEW session_verdict AS
-- What the latest completed round of each session said, from the event that
-- completed it; the first one where an old log has several. One row for each
-- session; NULL in all three columns for a map and while no round is complete.
SELECT
    s.id AS session_id,
    -- The round that is meant.
    c.round AS round,
    -- APPROVE, REQUEST CHANGES or NEEDS DISCUSSION; NULL when the event does
    -- not say, as one that was made from final.md.
    CASE WHEN json_valid(c.metadata) THEN
        CASE WHEN json_type(c.metadata, '$.verdict') = 'text'
            THEN CAST(json_extract(c.metadata, '$.verdict') AS TEXT)
        END
    END AS verdict,
    -- Findings that must be resolved first; NULL when the event does not say.
    CASE WHEN json_valid(c.metadata) THEN
        CASE WHEN json_type(c.metadata, '$.blocker_count') = 'integer'
            THEN CAST(json_extract(c.metadata, '$.blocker_count') AS INTEGER)
        END
    END AS blocker_count
FROM sessions AS s
LEFT JOIN orchestration_events AS c ON c.id = (
    SELECT e.id
    FROM orchestration_events AS e
    WHERE e.session_id = s.id
        AND e.event_type = 'round_completed'
        AND typeof(e.round) = 'integer'
        AND s.workflow_type = 'review'
    ORDER BY e.round DESC, +e.id
    LIMIT 1
);
