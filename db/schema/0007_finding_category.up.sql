-- What:  The category of a finding.
-- Why:   is_blocker alone cannot tell should-fix from a suggestion.
-- Rows:  None touched; old rows get NULL.
-- Back:  Reversible by dropping the column.

ALTER TABLE review_findings
    ADD COLUMN category TEXT DEFAULT NULL /* blocker, should_fix,
        suggestion or style; NULL: unknown, see is_blocker */;

INSERT INTO schema_version (version, description)
VALUES (7, 'category of findings');
