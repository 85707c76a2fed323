package db

import (
	"context"
	"errors"
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

// TestClearMarkRemakes: where only views, triggers and indexes are not as the
// version has them, they are made again and the mark goes, in one step; readers
// answer before that, a snapshot can be kept, and the refusal of writers names
// the way out.
func TestClearMarkRemakes(t *testing.T) {
	for _, c := range []struct {
		version int
		damage  string
	}{
		{Latest(), "DROP VIEW open_findings"},
		{Latest(), "DROP TRIGGER trg_sessions_close_guard; DROP INDEX idx_events_type"},
		{Latest(), "DROP VIEW open_findings; CREATE VIEW open_findings AS SELECT 1 AS x"},
		{20, "DROP VIEW session_completeness"},
	} {
		path := oldFile(t, c.version)
		rows := readContent(t, path)
		raw(t, path, "UPDATE schema_migrations SET dirty = 1", c.damage)
		_, err := Open(t.Context(), path, Options{})
		wantKind(t, err, KindDirty)
		var refused *Error
		if errors.As(err, &refused); !strings.Contains(refused.Hint, "'ocr doctor --fix'") {
			t.Errorf("%s: the hint is %q", c.damage, refused.Hint)
		}
		if c.version == Latest() {
			must(t, ReadUpgraded(t.Context(), path, Options{}, func(ctx context.Context, r *Reader) error {
				_, err := r.SessionActiveIDs(ctx)
				return err
			}))
		}
		snapshot, err := Snapshot(t.Context(), path, "doctor")
		must(t, err)
		must(t, CheckCopy(t.Context(), snapshot))
		done, err := ClearMark(t.Context(), path, Options{})
		must(t, err)
		if len(done.Made) == 0 || len(done.Failed) > 0 {
			t.Errorf("%s: %+v", c.damage, done)
		}
		open(t, path, Options{})
		wantUpgraded(t, path)
		wantKept(t, rows, readContent(t, path))
	}
}

// TestClearMarkKeeps: with a table or column that is not as the version has it,
// nobody knows the state of the file: the mark stays, nothing is made, and the
// hint names no snapshots where there are none.
func TestClearMarkKeeps(t *testing.T) {
	path := fresh(t)
	raw(t, path, "UPDATE schema_migrations SET dirty = 1", "DROP VIEW open_findings", "ALTER TABLE user_notes RENAME COLUMN content TO text")
	_, err := ClearMark(t.Context(), path, Options{})
	wantKind(t, err, KindDirty)
	wantKind(t, readNothing(path), KindDirty)
	var refused *Error
	if errors.As(err, &refused); strings.Contains(refused.Hint, "snapshots") || !strings.Contains(refused.Hint, "ocr db recover ") {
		t.Errorf("the hint is %q", refused.Hint)
	}
	if number(t, path, "SELECT dirty * 10 + (SELECT count(*) FROM sqlite_schema WHERE name = 'open_findings') FROM schema_migrations") != 10 {
		t.Error("something was changed")
	}
}
