package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDryRun: from every version, what is told beforehand is what comes, and
// nothing changes.
func TestDryRun(t *testing.T) {
	for _, version := range []int{1, 9, 10, 11, 13, 14, 20, Latest()} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			path := oldFile(t, version)
			before := state(t, filepath.Dir(path))
			r, err := DryRun(t.Context(), path, 0, Options{})
			must(t, err)
			if after := state(t, filepath.Dir(path)); after != before {
				t.Errorf("changed\n%s\nto\n%s", before, after)
			}
			if r.From != version || r.To != Latest() || len(r.Steps) != Latest()-version || len(r.Failures) > 0 || len(r.IntegrityAfter) > 0 {
				t.Errorf("from %d to %d, %d steps, failures %q", r.From, r.To, len(r.Steps), r.Failures)
			}
			for _, step := range r.Steps {
				if !step.Tried || step.Failed || step.Took <= 0 || step.SQL == "" || step.Name == "" {
					t.Errorf("step %+v", step)
				}
			}
			_, err = Migrate(t.Context(), path, Options{})
			must(t, err)
			content := readContent(t, path)
			for _, table := range r.Tables {
				rows, there := content[table.Table]
				switch {
				case there != (table.After != nil), there && int64(len(rows)) != *table.After:
					t.Errorf("table %s has %d rows, told %v", table.Table, len(rows), table.After)
				}
				delete(content, table.Table)
			}
			if len(content) > 0 {
				t.Errorf("tables that were not told: %v", content)
			}
		})
	}
}

// TestDryRunSteps: what single steps do is told with numbers.
func TestDryRunSteps(t *testing.T) {
	path := oldFile(t, 10)
	r, err := DryRun(t.Context(), path, 14, Options{})
	must(t, err)
	if r.To != 14 || len(r.Steps) != 4 {
		t.Fatalf("to %d, %d steps", r.To, len(r.Steps))
	}
	fold, duplicates := r.Steps[0], r.Steps[3]
	if fold.Name != "process_journal" || !slices.Contains(fold.Dropped, "table agent_sessions") || !slices.Contains(fold.Added, "column command_executions.vendor") ||
		!slices.Contains(fold.Changed, "table command_executions") || slices.ContainsFunc(fold.Dropped, func(name string) bool { return strings.HasPrefix(name, "column") }) {
		t.Errorf("step 11: %+v", fold)
	}
	if want := []RowChanges{{Table: "command_executions", Inserted: 6}}; !slices.Equal(fold.Rows, want) {
		t.Errorf("step 11 writes %v", fold.Rows)
	}
	if want := []RowChanges{{Table: "markdown_artifacts", Deleted: 2}}; !slices.Equal(duplicates.Rows, want) {
		t.Errorf("step 14 writes %v", duplicates.Rows)
	}
	if !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, "u-2") }) {
		t.Errorf("the row that is passed over is not told: %q", r.Notes)
	}
	at := slices.IndexFunc(r.Tables, func(table TableRows) bool { return table.Table == "agent_sessions" })
	if at < 0 || *r.Tables[at].Before != 7 || r.Tables[at].After != nil {
		t.Errorf("agent_sessions: %+v", r.Tables)
	}
}

// TestDryRunFails: a step that would fail is named, with the engine's words,
// and so are those behind it.
func TestDryRunFails(t *testing.T) {
	path := oldFile(t, 12)
	before := state(t, filepath.Dir(path))
	steps := fstest.MapFS{}
	for _, name := range stepNames(t)[:13] {
		steps["schema/"+name] = &fstest.MapFile{Data: []byte(stepBody(t, name))}
	}
	steps["schema/0014_broken.up.sql"] = &fstest.MapFile{Data: []byte("UPDATE sessions SET status = 'neither'")}
	steps["schema/0015_behind.up.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE behind (id INTEGER)")}
	o := newOpener(path, Options{})
	o.steps = steps
	r, err := o.dryRun(t.Context(), 0)
	must(t, err)
	if r.To != 13 || len(r.Failures) != 1 || !strings.HasPrefix(r.Failures[0], "step 14 (broken): ") || !strings.Contains(r.Failures[0], "CHECK constraint failed: status") {
		t.Errorf("to %d, failures %q", r.To, r.Failures)
	}
	if s := r.Steps; !s[0].Tried || s[0].Failed || !s[1].Failed || s[2].Tried {
		t.Errorf("steps %+v", s)
	}
	if after := state(t, filepath.Dir(path)); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
}

// TestDryRunRefuses: what Migrate refuses is refused here, and damage is told.
func TestDryRunRefuses(t *testing.T) {
	t.Run("Target", func(t *testing.T) {
		path := oldFile(t, 9)
		for _, to := range []int{1, 8, Latest() + 1} {
			var bad *TargetError
			if _, err := DryRun(t.Context(), path, to, Options{}); !errors.As(err, &bad) || bad.From != 9 {
				t.Errorf("dry run to %d: %v", to, err)
			}
			if _, err := MigrateTo(t.Context(), path, to, Options{}); !errors.As(err, &bad) || bad.From != 9 {
				t.Errorf("to %d: %v", to, err)
			}
		}
	})
	t.Run("HalfUpgraded", func(t *testing.T) {
		path := oldFile(t, 9)
		raw(t, path, "DROP TABLE chat_messages")
		_, err := DryRun(t.Context(), path, 0, Options{})
		wantKind(t, err, KindHalfUpgraded)
	})
	t.Run("Nothing", func(t *testing.T) {
		_, err := DryRun(t.Context(), filepath.Join(t.TempDir(), "ocr.db"), 0, Options{})
		wantKind(t, err, KindNoDatabase)
	})
	t.Run("Damaged", func(t *testing.T) {
		path := oldFile(t, 9)
		raw(t, path, "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = 'CREATE INDEX idx_events_type ON orchestration_events(session_id)' WHERE name = 'idx_events_type'")
		r, err := DryRun(t.Context(), path, 0, Options{})
		must(t, err)
		if len(r.Failures) != 1 || len(r.IntegrityBefore) == 0 {
			t.Errorf("failures %q, findings %q", r.Failures, r.IntegrityBefore)
		}
	})
	t.Run("DanglingRows", func(t *testing.T) {
		path := oldFile(t, 9)
		raw(t, path, "PRAGMA foreign_keys = OFF; INSERT INTO review_findings (reviewer_output_id, title, severity) VALUES (901, 'x', 'low')")
		r, err := DryRun(t.Context(), path, 0, Options{})
		must(t, err)
		if want := []OrphanCount{{"review_findings", 1}}; len(r.Failures) > 0 || !slices.Equal(r.OrphansBefore, want) || !slices.Equal(r.OrphansAfter, want) {
			t.Errorf("failures %q, before %v, after %v", r.Failures, r.OrphansBefore, r.OrphansAfter)
		}
	})
}

// TestMigrateTo stops where it is told, and goes on from there.
func TestMigrateTo(t *testing.T) {
	path := oldFile(t, 9)
	before := readContent(t, path)
	for from := 9; from < Latest(); from++ {
		done, err := MigrateTo(t.Context(), path, from+1, Options{NoSnapshot: true})
		must(t, err)
		if done.From != from || done.To != from+1 {
			t.Fatalf("from %d to %d", done.From, done.To)
		}
	}
	again, err := MigrateTo(t.Context(), path, Latest(), Options{})
	must(t, err)
	if again.From != again.To || again.Snapshot != "" {
		t.Errorf("again: %+v", again)
	}
	wantUpgraded(t, path)
	wantKept(t, before, readContent(t, path))
}

// TestDryRunBeside works on one consistent state while another process writes,
// and leaves no folder behind.
func TestDryRunBeside(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := oldFile(t, 9)
	stop := foreignWriter(t, path)
	for range 3 {
		r, err := DryRun(context.Background(), path, 0, Options{})
		must(t, err)
		if len(r.Failures) > 0 {
			t.Error(r.Failures)
		}
	}
	stop()
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
