-- About how many events there are: none is ever taken away.
SELECT IFNULL(MAX(e.id), 0) AS events
FROM orchestration_events AS e;
