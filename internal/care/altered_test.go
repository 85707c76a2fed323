package care_test

import (
	"maps"
	"testing"

	"ocr/db"
	"ocr/internal/care"
)

// TestAltered: while a view is not as expected nothing is deleted, by no verb,
// and a deletion that takes along what it must not touch is undone.
func TestAltered(t *testing.T) {
	prune := func(dryRun bool) func(d *desk) error {
		return func(d *desk) error {
			_, err := care.Prune(d.Context(), d.Caller, care.PruneOptions{OlderThanDays: ptr(int64(30)), DryRun: dryRun})
			return err
		}
	}
	repair := func(d *desk) error {
		_, err := care.Repair(d.Context(), d.Caller, care.RepairOptions{})
		return err
	}
	const (
		otherView    = "DROP VIEW orphan_artifacts; CREATE VIEW orphan_artifacts AS SELECT 'review_findings' AS table_name, id AS row_id FROM review_findings"
		otherTrigger = "CREATE TRIGGER mine AFTER DELETE ON review_findings BEGIN DELETE FROM user_notes; END"
		orphan       = "INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('gone', 'final', 'x', 'y')"
	)
	for name, c := range map[string]struct {
		alter string
		run   func(d *desk) error
		want  db.Kind
	}{
		"Prune":       {otherView, prune(false), db.KindAltered},
		"PruneDryRun": {otherView, prune(true), db.KindAltered},
		"Repair":      {otherView, repair, db.KindAltered},
		"PruneAlong":  {otherTrigger, prune(false), db.KindOtherRows},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.session("old", "closed", "2020-01-02 00:00:00")
			d.run("PRAGMA foreign_keys = OFF", orphan, "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'old', 'mine')", c.alter)
			before := d.counts()
			if err := c.run(d); db.KindOf(err) != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if after := d.counts(); !maps.Equal(after, before) {
				t.Errorf("rows %v, were %v", after, before)
			}
		})
	}
}
