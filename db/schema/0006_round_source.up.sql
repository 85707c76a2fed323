-- What:  Where a round's numbers come from, and how many reviewers and
--        findings it had.
-- Why:   Numbers told by the review itself outrank numbers read from prose.
-- Rows:  None touched; old rows get NULL and 0.
-- Back:  Reversible by dropping the columns.

ALTER TABLE review_rounds
    ADD COLUMN source TEXT DEFAULT NULL /* orchestrator: from the payload */;

ALTER TABLE review_rounds
    ADD COLUMN reviewer_count INTEGER DEFAULT 0 /* reviewers in the round */;

ALTER TABLE review_rounds
    ADD COLUMN total_finding_count INTEGER DEFAULT 0 /* all categories */;

INSERT INTO schema_version (version, description)
VALUES (6, 'source and totals of rounds');
