-- The ledger of the steps that several programs share.
SELECT version AS version
FROM schema_version
ORDER BY version;
