package db

import (
	"strings"
	"testing"
)

// TestSalvageGuards: the new file has every view, trigger and index of its
// version, whatever the source lacks or says otherwise, and no mark of an
// unfinished step; the report says so.
func TestSalvageGuards(t *testing.T) {
	for _, version := range []int{14, 20, Latest()} {
		path := oldFile(t, version)
		rows := readContent(t, path)
		statements := []string{"DROP VIEW session_completeness", "DROP TRIGGER trg_sessions_close_guard", "DROP INDEX idx_events_type"}
		if version > SharedLatest {
			statements = append(statements,
				"UPDATE schema_migrations SET dirty = 1",
				"CREATE VIEW session_completeness AS SELECT 1 AS x",
				"CREATE TRIGGER trg_sessions_close_guard AFTER UPDATE ON sessions BEGIN SELECT 1; END")
		}
		raw(t, path, statements...)
		result, target := salvaged(t, path)
		notes := strings.Join(result.Notes, "\n")
		for _, part := range []string{"view session_completeness", "trigger trg_sessions_close_guard", "index idx_events_type"} {
			if !strings.Contains(notes, part) {
				t.Errorf("version %d: the notes do not name the %s: %s", version, part, notes)
			}
		}
		if !result.Complete || version > SharedLatest && !strings.Contains(notes, "schema_migrations.dirty") {
			t.Errorf("version %d: complete %v, %s", version, result.Complete, notes)
		}
		if version > SharedLatest && number(t, target, "SELECT dirty FROM schema_migrations") != 0 {
			t.Errorf("version %d: the mark was written", version)
		}
		open(t, target, Options{})
		wantUpgraded(t, target)
		wantKept(t, rows, readContent(t, target))
	}
}

// TestSalvageUnguarded: a file of which a guard could not be made is not
// complete.
func TestSalvageUnguarded(t *testing.T) {
	path := filled(t)
	raw(t, path, "DROP VIEW open_findings", "CREATE TABLE open_findings (x)")
	result, _ := salvaged(t, path)
	if notes := strings.Join(result.Notes, "\n"); result.Complete || !strings.Contains(notes, "could not be made: view open_findings") {
		t.Errorf("complete %v: %s", result.Complete, notes)
	}
}
