-- data.log_gaps: ranges of event ids that were given and are not there.
-- Ids are given in order, by the engine; an insert that a trigger skips or a
-- rollback undoes gives its id back. sqlite_sequence keeps the highest one.
SELECT g.first_id, g.last_id, g.last_id - g.first_id + 1 AS events, g.place
FROM (
    SELECT
        LAG(e.id, 1, 0) OVER (ORDER BY e.id) + 1 AS first_id,
        e.id - 1 AS last_id,
        'inside the log' AS place
    FROM orchestration_events AS e
    WHERE e.id >= 1
    UNION ALL
    SELECT
        IFNULL((SELECT MAX(n.id) FROM orchestration_events AS n), 0) + 1,
        MAX(q.seq),
        'at its end'
    FROM sqlite_sequence AS q
    WHERE q.name = 'orchestration_events' AND typeof(q.seq) = 'integer'
) AS g
WHERE g.first_id <= g.last_id;
