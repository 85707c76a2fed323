-- What:  Where a map run's numbers come from, and how many sections it had.
-- Why:   As for rounds in version 6.
-- Rows:  None touched; old rows get NULL and 0.
-- Back:  Reversible by dropping the columns.

ALTER TABLE map_runs
    ADD COLUMN source TEXT DEFAULT NULL /* orchestrator: from the payload */;

ALTER TABLE map_runs
    ADD COLUMN section_count INTEGER DEFAULT 0 /* sections of the map */;

INSERT INTO schema_version (version, description)
VALUES (8, 'source and totals of map runs');
