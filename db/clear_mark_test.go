package db

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestClearMark: the mark of an unfinished step on a sound file keeps nobody
// from reading, which changes nothing, and goes with the next write, which
// says so; a file that is not as its version has it is refused.
func TestClearMark(t *testing.T) {
	for _, version := range []int{14, 18, Latest()} {
		path := oldFile(t, version)
		if version == 14 {
			raw(t, path, ledgerSQL, "INSERT INTO schema_migrations VALUES (14, 1)")
		}
		raw(t, path, "UPDATE schema_migrations SET dirty = 1")
		rows := readContent(t, path)
		before := state(t, filepath.Dir(path))
		must(t, ReadUpgraded(t.Context(), path, Options{}, func(ctx context.Context, r *Reader) error {
			_, err := r.SessionActiveIDs(ctx)
			return err
		}))
		if version < Latest() {
			dry, err := DryRun(t.Context(), path, 0, Options{})
			must(t, err)
			if len(dry.Failures) > 0 || !strings.Contains(strings.Join(dry.Notes, "\n"), "the mark was cleared") {
				t.Errorf("version %d: failures %q, notes %q", version, dry.Failures, dry.Notes)
			}
		}
		if after := state(t, filepath.Dir(path)); after != before {
			t.Errorf("version %d: reading changed\n%s\nto\n%s", version, before, after)
		}
		var said []string
		open(t, path, Options{Notice: func(line string) { said = append(said, line) }})
		if !strings.Contains(strings.Join(said, "\n"), "the mark was cleared") {
			t.Errorf("version %d: said %q", version, said)
		}
		wantUpgraded(t, path)
		wantKept(t, rows, readContent(t, path))
	}
	for _, damage := range []string{
		"DROP TRIGGER trg_sessions_close_guard",
		"DROP VIEW open_findings; CREATE VIEW open_findings AS SELECT 1 AS x",
		"ALTER TABLE user_notes DROP COLUMN updated_at",
		"CREATE TRIGGER mine BEFORE UPDATE ON schema_migrations BEGIN SELECT RAISE(IGNORE); END",
	} {
		path := fresh(t)
		raw(t, path, "UPDATE schema_migrations SET dirty = 1", damage)
		_, err := Open(t.Context(), path, Options{})
		wantKind(t, err, KindDirty)
		if number(t, path, "SELECT dirty FROM schema_migrations") != 1 {
			t.Errorf("%s: the mark is gone", damage)
		}
	}
}
