package care_test

import (
	"testing"

	"ocr/internal/care"
)

// TestRepair_NothingToDelete makes no copy of a file in which all that points
// nowhere must stay, and one where a row can go.
func TestRepair_NothingToDelete(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run("PRAGMA foreign_keys = OFF; INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('gone', 'final', 'x', 'x')",
		"PRAGMA foreign_keys = OFF; INSERT INTO user_finding_progress (finding_id, status) VALUES (77, 'fixed')")
	done, err := care.Repair(t.Context(), d.Caller, care.RepairOptions{})
	must(t, err)
	if done.Snapshot == "" || done.Deleted["markdown_artifacts"] != 1 {
		t.Errorf("%+v", done)
	}
	files := d.files()
	done, err = care.Repair(t.Context(), d.Caller, care.RepairOptions{})
	must(t, err)
	if done.Snapshot != "" || len(done.Deleted) != 0 || d.files() != files {
		t.Errorf("%+v, though nothing can be deleted", done)
	}
	if left := d.text("SELECT count(*) FROM user_finding_progress"); left != "1" {
		t.Errorf("%s rows that a person wrote", left)
	}
}
