-- data.foreign_keys: rows that refer to a row that is not there.
-- Left behind by programs that had foreign keys switched off.
SELECT
    f."table" AS table_name,
    f.rowid AS row_id,
    f.parent AS missing_in,
    f."table" IN ('sessions', 'orchestration_events', 'command_executions')
        AS is_protected
FROM pragma_foreign_key_check AS f;
