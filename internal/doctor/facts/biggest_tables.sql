-- The tables with the most rows, of those that grow.
SELECT t.table_name AS table_name, t.total AS total
FROM (
    SELECT 'orchestration_events' AS table_name, count(*) AS total
    FROM orchestration_events
    UNION ALL
    SELECT 'command_executions', count(*) FROM command_executions
    UNION ALL
    SELECT 'markdown_artifacts', count(*) FROM markdown_artifacts
    UNION ALL
    SELECT 'review_findings', count(*) FROM review_findings
    UNION ALL
    SELECT 'map_files', count(*) FROM map_files
    UNION ALL
    SELECT 'chat_messages', count(*) FROM chat_messages
    UNION ALL
    SELECT 'sessions', count(*) FROM sessions
) AS t
ORDER BY t.total DESC, t.table_name
LIMIT 3;
