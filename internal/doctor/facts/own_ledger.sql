-- The ledger of all steps: one row, never dirty.
SELECT version AS version, typeof(version) AS type, IFNULL(dirty, 0) AS dirty
FROM schema_migrations;
