package db

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func (d faultyDisk) keep(from, to string) error {
	if err := d.f.tick(); err != nil {
		return err
	}
	return d.realDisk.keep(from, to)
}

func (d faultyDisk) rename(from, to string) error {
	if err := d.f.tick(); err != nil {
		return err
	}
	return d.realDisk.rename(from, to)
}

const addNote = "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', ?)"

// dead is a database whose last process died: the note "log" stands only in
// the log beside it. The statements run first.
func dead(t testing.TB, statements ...string) (path string) {
	t.Helper()
	alive := filepath.Join(fastDir(t), "ocr.db")
	s, err := Open(context.Background(), alive, Options{Create: true})
	must(t, err)
	must(t, s.Close())
	pool, err := sql.Open("sqlite", mustAddress(alive))
	must(t, err)
	pool.SetMaxOpenConns(1)
	for _, statement := range statements {
		_, err := pool.Exec(statement)
		must(t, err)
	}
	for _, note := range []string{"main", "log"} {
		_, err := pool.Exec(addNote, note)
		must(t, err)
		if note == "main" {
			_, err := pool.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
			must(t, err)
		}
	}
	path = filepath.Join(fastDir(t), "ocr.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		must(t, copyFile(alive+suffix, path+suffix))
	}
	must(t, pool.Close())
	return path
}

// aSnapshot is a database elsewhere with the one note "snapshot".
func aSnapshot(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(fastDir(t), "snapshot.db")
	s, err := Open(context.Background(), path, Options{Create: true})
	must(t, err)
	must(t, s.on(context.Background(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(context.Background(), addNote, "snapshot")
		return err
	}))
	must(t, s.Close())
	return path
}

// notesIn reads the notes by the rules for reading.
func notesIn(t testing.TB, path string) (text string, err error) {
	t.Helper()
	err = view(context.Background(), path, func(ctx context.Context, conn *sql.Conn) error {
		list, err := names(ctx, conn, "SELECT content FROM user_notes ORDER BY id")
		text = strings.Join(list, " ")
		return err
	})
	return text, err
}

func wantNotes(t testing.TB, path, want string) {
	t.Helper()
	if got, err := notesIn(t, path); err != nil || got != want {
		t.Errorf("%s holds %q, want %q: %v", filepath.Base(path), got, want, err)
	}
}

// TestRestoreSnapshot puts a snapshot in the place of databases in every
// state, and back.
func TestRestoreSnapshot(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		path, snapshot := dead(t), aSnapshot(t)
		must(t, os.Chmod(path, 0o640))
		kept := state(t, filepath.Dir(snapshot))
		done, err := RestoreSnapshot(t.Context(), path, snapshot)
		must(t, err)
		if done.Version != Latest() || !done.Whole || !strings.HasPrefix(done.SetAside, path+".bak.restore.") {
			t.Errorf("%+v", done)
		}
		wantNotes(t, path, "snapshot")
		wantNotes(t, done.SetAside, "main log")
		if logs, err := newOpener(path, Options{}).logs(); err != nil || len(logs) > 0 {
			t.Errorf("beside the database: %v %v", logs, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("rights %v %v", info.Mode(), err)
		}
		if after := state(t, filepath.Dir(snapshot)); after != kept {
			t.Errorf("the snapshot changed\n%s\nto\n%s", kept, after)
		}
		back, err := RestoreSnapshot(t.Context(), path, done.SetAside)
		must(t, err)
		wantNotes(t, path, "main log")
		wantNotes(t, back.SetAside, "snapshot")
		must(t, open(t, path, Options{}).Close())
		if left := partials(t, path); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("Old", func(t *testing.T) {
		path := dead(t)
		done, err := RestoreSnapshot(t.Context(), path, oldFile(t, 9))
		must(t, err)
		if done.Version != 9 {
			t.Errorf("version %d", done.Version)
		}
		must(t, open(t, path, Options{}).Close())
		wantUpgraded(t, path)
	})
	t.Run("Nothing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "data", "ocr.db")
		done, err := RestoreSnapshot(t.Context(), path, aSnapshot(t))
		must(t, err)
		if done.SetAside != "" {
			t.Errorf("set aside %s", done.SetAside)
		}
		wantNotes(t, path, "snapshot")
	})
	t.Run("NewerAndDirty", func(t *testing.T) {
		for _, statement := range []string{"UPDATE schema_migrations SET version = 999", "UPDATE schema_migrations SET dirty = 1", "DROP TABLE chat_messages"} {
			path := fresh(t)
			raw(t, path, statement)
			_, err := RestoreSnapshot(t.Context(), path, aSnapshot(t))
			must(t, err)
			wantNotes(t, path, "snapshot")
		}
	})
	for name, damage := range map[string]func(t *testing.T, path string) error{
		"Garbage": func(t *testing.T, path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("7k"), 9000), 0o644)
		},
		"Truncated": func(t *testing.T, path string) error { return os.Truncate(path, 5000) },
		"Empty":     func(t *testing.T, path string) error { return os.Truncate(path, 0) },
		"MainGone":  func(t *testing.T, path string) error { return os.Remove(path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := dead(t)
			must(t, damage(t, path))
			before := contents(t, path)
			done, err := RestoreSnapshot(t.Context(), path, aSnapshot(t))
			must(t, err)
			wantNotes(t, path, "snapshot")
			if done.Whole || !strings.HasPrefix(done.SetAside, path+".damaged.") {
				t.Errorf("%+v", done)
			}
			if kept := contents(t, done.SetAside); kept != before {
				t.Errorf("kept %d bytes of %d", len(kept), len(before))
			}
			if left := partials(t, path); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// contents is the bytes of a database and its log.
func contents(t testing.TB, path string) (all string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

func partials(t testing.TB, path string) []string {
	t.Helper()
	found, err := filepath.Glob(path + "*.partial*")
	must(t, err)
	return found
}

// TestRestoreSnapshotRefused: nothing changes, whatever speaks against it.
func TestRestoreSnapshotRefused(t *testing.T) {
	refused := func(t *testing.T, path, snapshot string, kind Kind) {
		t.Helper()
		before := state(t, filepath.Dir(path))
		_, err := RestoreSnapshot(t.Context(), path, snapshot)
		wantKind(t, err, kind)
		after := state(t, filepath.Dir(path))
		if without := strings.ReplaceAll(after, lineOf(after, "ocr.db.lock"), ""); without != strings.ReplaceAll(before, lineOf(before, "ocr.db.lock"), "") {
			t.Errorf("changed\n%s\nto\n%s", before, after)
		}
	}
	for name, c := range map[string]struct {
		make func(t *testing.T) string
		kind Kind
	}{
		"Gone":   {func(t *testing.T) string { return filepath.Join(t.TempDir(), "x") }, KindNoDatabase},
		"Folder": {func(t *testing.T) string { return t.TempDir() }, KindUnreadable},
		"Empty":  {func(t *testing.T) string { p := aSnapshot(t); must(t, os.Truncate(p, 0)); return p }, KindCorrupt},
		"Short":  {func(t *testing.T) string { p := aSnapshot(t); must(t, os.Truncate(p, 9000)); return p }, KindCorrupt},
		"Text":   {func(t *testing.T) string { p := aSnapshot(t); write(t, p, strings.Repeat("text ", 999)); return p }, KindNotADatabase},
		"Foreign": {func(t *testing.T) string {
			p := filepath.Join(t.TempDir(), "x")
			raw(t, p, "CREATE TABLE x (y)")
			return p
		}, KindForeignDatabase},
		"Newer": {func(t *testing.T) string {
			p := aSnapshot(t)
			raw(t, p, "UPDATE schema_migrations SET version = 999")
			return p
		}, KindNewerSchema},
		"Dirty": {func(t *testing.T) string {
			p := aSnapshot(t)
			raw(t, p, "UPDATE schema_migrations SET dirty = 1", "DROP VIEW session_completeness")
			return p
		}, KindDirty},
		"Half": {func(t *testing.T) string {
			p := oldFile(t, 9)
			raw(t, p, "DELETE FROM schema_version WHERE version = 4")
			return p
		}, KindHalfUpgraded},
	} {
		t.Run(name, func(t *testing.T) { refused(t, fresh(t), c.make(t), c.kind) })
	}
	t.Run("Itself", func(t *testing.T) {
		path := fresh(t)
		refused(t, path, path, KindSameFile)
	})
	t.Run("LinkToNothing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ocr.db")
		must(t, os.Symlink("gone", path))
		refused(t, path, aSnapshot(t), KindUnreadable)
	})
	t.Run("InUse", func(t *testing.T) {
		path := fresh(t)
		pool, err := sql.Open("sqlite", mustAddress(path))
		must(t, err)
		defer pool.Close()
		_, err = pool.Exec(addNote, "held")
		must(t, err)
		refused(t, path, aSnapshot(t), KindInUse)
	})
	t.Run("DiskFull", func(t *testing.T) {
		path := fresh(t)
		before := state(t, filepath.Dir(path))
		o := newOpener(path, Options{})
		o.disk = fullDisk{}
		_, err := o.restoreSnapshot(t.Context(), aSnapshot(t))
		wantKind(t, err, KindNoSpace)
		if after := state(t, filepath.Dir(path)); after != before {
			t.Errorf("changed\n%s\nto\n%s", before, after)
		}
	})
}

func lineOf(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, name) {
			return line
		}
	}
	return "(none)"
}

// TestRestoreSnapshotDeath kills a restore before each statement and file
// operation: the next command finds the old rows or the new, and the same
// restore again ends well. Nothing of what was there is lost.
func TestRestoreSnapshotDeath(t *testing.T) {
	snapshot := aSnapshot(t)
	count := func(path string) int64 {
		f := &fault{}
		_, err := f.opener(path).restoreSnapshot(t.Context(), snapshot)
		must(t, err)
		return f.count.Load()
	}
	die := func(t *testing.T, path string, at int64) {
		t.Helper()
		out, err := command("restore-until", path, strconv.FormatInt(at, 10), snapshot).CombinedOutput()
		if err == nil || len(out) > 0 {
			t.Fatalf("operation %d: no death: %v %s", at, err, out)
		}
	}
	t.Run("Sound", func(t *testing.T) {
		last := count(dead(t))
		for _, at := range deaths(last) {
			path := dead(t)
			die(t, path, at)
			got, err := notesIn(t, path)
			if err != nil || got != "main log" && got != "snapshot" {
				t.Fatalf("operation %d: then it holds %q: %v", at, got, err)
			}
			must(t, open(t, path, Options{}).Close())
			_, err = RestoreSnapshot(t.Context(), path, snapshot)
			must(t, err)
			wantNotes(t, path, "snapshot")
			kept, err := filepath.Glob(path + ".bak.restore.*")
			must(t, err)
			if !slices.ContainsFunc(kept, func(name string) bool { got, err := notesIn(t, name); return err == nil && got == "main log" }) {
				t.Errorf("operation %d: no snapshot of before in %v", at, kept)
			}
			if left := partials(t, path); len(left) > 0 {
				t.Errorf("operation %d: left behind: %v", at, left)
			}
		}
		t.Logf("%d deaths", len(deaths(last)))
	})
	for name, damaged := range map[string]func() string{
		"Garbage": func() string {
			path := dead(t)
			text, err := os.ReadFile(path)
			must(t, err)
			copy(text, "no database at all")
			must(t, os.WriteFile(path, text, 0o644))
			// A log that no database of that size could have.
			must(t, os.WriteFile(path+"-wal", []byte("what is left of a log"), 0o644))
			return path
		},
		// Without its log this one can be read, and shows rows of before.
		"Broken": func() string {
			change := func(from, to string) string {
				return "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '" + from + "', '" + to + "') WHERE name = 'sessions'; PRAGMA writable_schema = RESET"
			}
			return dead(t, change("branch TEXT NOT NULL", "branch TEXT"),
				"INSERT INTO sessions (id, workflow_type, session_dir) VALUES ('s', 'review', 'd')", change("branch TEXT", "branch TEXT NOT NULL"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			last := count(damaged())
			for _, at := range deaths(last) {
				path := damaged()
				before := contents(t, path)
				die(t, path, at)
				if got, err := notesIn(t, path); KindOf(err) != KindNotADatabase && got != "snapshot" && got != "main log" {
					t.Fatalf("operation %d: then it holds %q: %v", at, got, err)
				}
				_, err := RestoreSnapshot(t.Context(), path, snapshot)
				must(t, err)
				wantNotes(t, path, "snapshot")
				kept, err := filepath.Glob(path + ".damaged.*")
				must(t, err)
				if !slices.ContainsFunc(kept, func(name string) bool { return contents(t, name) == before }) {
					t.Errorf("operation %d: nothing of before in %v", at, kept)
				}
				if left := partials(t, path); len(left) > 0 {
					t.Errorf("operation %d: left behind: %v", at, left)
				}
			}
			t.Logf("%d deaths", len(deaths(last)))
		})
	}
}

// deaths are the operations to die at: the later ones, which touch what is
// there, and a share of the others; all of them with DB_TEST_ALL.
func deaths(last int64) (list []int64) {
	for at := int64(1); at <= last; at++ {
		if at%4 == 1 || at > last-14 || os.Getenv("DB_TEST_ALL") != "" {
			list = append(list, at)
		}
	}
	return list
}

// TestRestoreSnapshotWaiter: a process that waits for the database while it is
// replaced does not write beside the new one.
func TestRestoreSnapshotWaiter(t *testing.T) {
	path, snapshot := dead(t), aSnapshot(t)
	ended := make(chan error, 2)
	counting := &fault{}
	_, err := counting.opener(dead(t)).restoreSnapshot(t.Context(), snapshot)
	must(t, err)
	// The last operations are: the pages, and the passing names that go.
	f := &fault{at: counting.count.Load() - 4}
	f.strike = func() error {
		for _, verb := range []string{"note", "write"} {
			cmd := command(verb, path, "1")
			go func() { ended <- cmd.Run() }()
		}
		time.Sleep(400 * time.Millisecond)
		return nil
	}
	_, err = f.opener(path).restoreSnapshot(t.Context(), snapshot)
	must(t, err)
	for range 2 {
		<-ended
	}
	if faults := number(t, path, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"); faults != 0 {
		t.Errorf("%d faults", faults)
	}
	got, err := notesIn(t, path)
	if err != nil || !strings.HasPrefix(got, "snapshot") || strings.Contains(got, "main") {
		t.Errorf("it holds %q: %v", got, err)
	}
	t.Logf("it holds %q", got)
}
