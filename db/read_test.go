package db

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		path := fresh(t)
		before := state(t, filepath.Dir(path))
		must(t, Read(t.Context(), path, func(ctx context.Context, r *Reader) error {
			if migrations, shared := r.Schema(); migrations != Latest() || shared != SharedLatest {
				t.Errorf("schema %d, %d", migrations, shared)
			}
			return nil
		}))
		if after := state(t, filepath.Dir(path)); after != before {
			t.Errorf("changed\n%sto\n%s", before, after)
		}
	})

	t.Run("ErrorPassesThrough", func(t *testing.T) {
		err := Read(t.Context(), fresh(t), func(context.Context, *Reader) error { return errWanted })
		if err != errWanted {
			t.Errorf("error %v", err)
		}
	})

	t.Run("CannotWrite", func(t *testing.T) {
		for _, side := range []bool{false, true} {
			path := fresh(t)
			if side {
				open(t, path, Options{})
			}
			err := Read(t.Context(), path, func(ctx context.Context, r *Reader) error {
				_, err := r.conn.ExecContext(ctx, "DELETE FROM user_notes")
				return err
			})
			wantKind(t, err, KindReadOnly)
		}
	})

	t.Run("RunsAgain", func(t *testing.T) {
		for _, first := range []error{nil, errWanted} {
			path := fresh(t)
			runs, count := 0, 0
			must(t, Read(t.Context(), path, func(ctx context.Context, r *Reader) error {
				must(t, r.conn.QueryRowContext(ctx, "SELECT count(*) FROM user_notes").Scan(&count))
				if runs++; runs > 1 {
					return nil
				}
				run(t, "write", path, "1")
				return first
			}))
			if runs != 2 || count != 2 {
				t.Errorf("%d runs, %d notes, want 2 and 2", runs, count)
			}
		}
	})

	t.Run("WriterLeaves", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		must(t, s.Write(t.Context(), addPair(1)))
		before, err := lookAt(path)
		must(t, err)
		must(t, s.Close())
		must(t, viewBeside(t.Context(), path, before, func(ctx context.Context, conn *sql.Conn) error {
			var n int
			return conn.QueryRowContext(ctx, "SELECT count(*) FROM user_notes").Scan(&n)
		}))
		if after, err := lookAt(path); err != nil || after.wal != nil || after.shm != nil {
			t.Errorf("side files were left: %+v (%v)", after, err)
		}
	})

	t.Run("BesideWriter", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		must(t, s.Write(t.Context(), addPair(1)))
		before := state(t, filepath.Dir(path))
		must(t, s.Write(t.Context(), func(context.Context, *Tx) error {
			if got := notes(t, path); got != 2 {
				t.Errorf("%d notes, want 2", got)
			}
			return nil
		}))
		if after := state(t, filepath.Dir(path)); after != before {
			t.Errorf("changed\n%sto\n%s", before, after)
		}
	})

	t.Run("DeadWriter", func(t *testing.T) {
		path := fresh(t)
		die(t, "die", path)
		wantFiles(t, path, "-wal", "-shm")
		wantUntouched(t, path, 2)
	})

	t.Run("LogWithoutIndex", func(t *testing.T) {
		path := fresh(t)
		die(t, "die", path)
		must(t, os.Remove(path+"-shm"))
		wantUntouched(t, path, 2)
		s := open(t, path, Options{})
		must(t, s.Write(t.Context(), addPair(1)))
		if got := notes(t, path); got != 4 {
			t.Errorf("%d notes, want 4", got)
		}
	})

	t.Run("HotJournal", func(t *testing.T) {
		path := fresh(t)
		raw(t, path, `
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO user_notes (target_type, target_id, content) SELECT 'session', 's', 'kept' FROM n`)
		die(t, "die-in-journal", path)
		wantFiles(t, path, "-journal")
		wantUntouched(t, path, 3000)
	})
}

// TestReadOnlyPlace reads as a user who may write nothing there.
func TestReadOnlyPlace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become a user without rights")
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"Quiet", func(*testing.T, string) {}, "0"},
		{"DeadWriter", func(t *testing.T, path string) { die(t, "die", path) }, "2"},
		{"LogWithoutIndex", func(t *testing.T, path string) { die(t, "die", path); must(t, os.Remove(path+"-shm")) }, "2"},
		{"LiveWriter", func(t *testing.T, path string) {
			must(t, open(t, path, Options{}).Write(t.Context(), addPair(1)))
		}, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, err := os.MkdirTemp("", "ocr-test-")
			must(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(base) })
			program := filepath.Join(base, "program")
			must(t, copyFile(os.Args[0], program))
			path := filepath.Join(base, "data", "ocr.db")
			must(t, open(t, path, Options{Create: true}).Close())
			c.make(t, path)
			for _, name := range []string{program, base, path} {
				must(t, os.Chmod(name, 0o755))
			}
			must(t, os.Chmod(filepath.Dir(path), 0o555))
			before := state(t, filepath.Dir(path))

			as := func(verb string) (string, error) {
				cmd := command(verb, path, "1")
				cmd.Path, cmd.Args[0] = program, program
				becomeNobody(t, cmd)
				out, err := cmd.CombinedOutput()
				return strings.TrimSpace(string(out)), err
			}
			if out, err := as("count"); err != nil || out != c.want {
				t.Errorf("reading: %q, want %q (%v)", out, c.want, err)
			}
			if out, err := as("write"); err == nil || !strings.HasPrefix(out, string(KindReadOnly)+" ") {
				t.Errorf("writing: %q (%v)", out, err)
			}
			if after := state(t, filepath.Dir(path)); after != before {
				t.Errorf("changed\n%sto\n%s", before, after)
			}
		})
	}
}

// TestReadForbidden reads a file whose owner keeps it private.
func TestReadForbidden(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become a user without rights")
	}
	base, err := os.MkdirTemp("", "ocr-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program := filepath.Join(base, "program")
	must(t, copyFile(os.Args[0], program))
	path := filepath.Join(base, "data", "ocr.db")
	must(t, open(t, path, Options{Create: true}).Close())
	must(t, os.Chmod(program, 0o755))
	must(t, os.Chmod(base, 0o755))
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		must(t, os.Chmod(name, mode))
		for _, verb := range []string{"count", "write"} {
			cmd := command(verb, path, "1")
			cmd.Path, cmd.Args[0] = program, program
			becomeNobody(t, cmd)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.HasPrefix(string(out), string(KindUnreadable)+" ") {
				t.Errorf("%s of %s with mode %o: %s (%v)", verb, name, mode, out, err)
			}
		}
		must(t, os.Chmod(name, 0o755))
	}
}

// TestReadConsistent reads while another process opens, writes and closes
// all the time, so that the log comes and goes.
func TestReadConsistent(t *testing.T) {
	path := fresh(t)
	writer := command("reopen", path)
	stop, err := writer.StdinPipe()
	must(t, err)
	out, err := writer.StdoutPipe()
	must(t, err)
	must(t, writer.Start())
	_, err = io.ReadFull(out, make([]byte, len("started")))
	must(t, err)
	last := 0
	for range 300 {
		sum, count := 0, 0
		must(t, Read(t.Context(), path, func(ctx context.Context, r *Reader) error {
			if err := r.conn.QueryRowContext(ctx, "SELECT count(*) FROM user_notes").Scan(&count); err != nil {
				return err
			}
			return r.conn.QueryRowContext(ctx, "SELECT IFNULL(sum(CAST(content AS INTEGER)), 0) + (count(*) - ?) FROM user_notes", count).Scan(&sum)
		}))
		if sum != 0 || count%2 != 0 || count < last {
			t.Fatalf("sum %d, count %d after %d: half a transaction, or the past", sum, count, last)
		}
		last = count
	}
	must(t, stop.Close())
	must(t, writer.Wait())
	if last == 0 {
		t.Error("nothing was written meanwhile")
	}
	for _, side := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + side); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was left (%v)", side, err)
		}
	}
}

// die runs a verb that ends in its own death.
func die(t *testing.T, verb, path string) {
	t.Helper()
	if out, err := command(verb, path).CombinedOutput(); err == nil || len(out) > 0 {
		t.Fatalf("%s: %v %s", verb, err, out)
	}
}

func wantFiles(t *testing.T, path string, sides ...string) {
	t.Helper()
	for _, side := range sides {
		if info, err := os.Stat(path + side); err != nil || info.Size() == 0 {
			t.Fatalf("no %s to read beside (%v)", side, err)
		}
	}
}

// wantUntouched reads the notes and compares all files; no private copy may
// be left.
func wantUntouched(t *testing.T, path string, want int) {
	t.Helper()
	private := t.TempDir()
	t.Setenv("TMPDIR", private)
	before := state(t, filepath.Dir(path))
	if got := notes(t, path); got != want {
		t.Errorf("%d notes, want %d", got, want)
	}
	if after := state(t, filepath.Dir(path)); after != before {
		t.Errorf("changed\n%sto\n%s", before, after)
	}
	if left := state(t, private); left != "" {
		t.Errorf("left behind: %s", left)
	}
}
