package db

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var errWanted = errors.New("wanted")

func TestWrite(t *testing.T) {
	ctx := context.Background()

	t.Run("OK", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		must(t, s.Write(ctx, addPair(1)))
		must(t, s.Write(ctx, addPair(2)))
		if got := notes(t, path); got != 4 {
			t.Errorf("%d notes, want 4", got)
		}
	})

	t.Run("Fails", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		err := s.Write(ctx, func(ctx context.Context, tx *Tx) error {
			must(t, addPair(1)(ctx, tx))
			return errWanted
		})
		if err != errWanted {
			t.Errorf("error %v, want it as it was returned", err)
		}
		wantNotesAfter(t, s, path)
	})

	t.Run("Panics", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = s.Write(ctx, func(ctx context.Context, tx *Tx) error {
				must(t, addPair(1)(ctx, tx))
				panic("wanted")
			})
		}()
		wantNotesAfter(t, s, path)
	})

	t.Run("Cancelled", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		ctx, cancel := context.WithCancel(ctx)
		err := s.Write(ctx, func(ctx context.Context, tx *Tx) error {
			must(t, addPair(1)(ctx, tx))
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
		wantNotesAfter(t, s, path)
	})

	t.Run("CommitFails", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		err := s.Write(ctx, func(ctx context.Context, tx *Tx) error {
			must(t, addPair(1)(ctx, tx))
			for _, statement := range []string{
				"PRAGMA defer_foreign_keys = ON",
				"INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('none', 'x', 'x', 'x')",
			} {
				if _, err := tx.conn.ExecContext(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		})
		wantKind(t, err, KindConstraint)
		wantNotesAfter(t, s, path)
	})

	t.Run("Rule", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		err := s.Write(ctx, func(ctx context.Context, tx *Tx) error {
			_, err := tx.conn.ExecContext(ctx, `
INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', 'review', 'd');
INSERT INTO orchestration_events (session_id, event_type) VALUES ('s', 'no_such_type')`)
			return err
		})
		wantKind(t, err, KindRule)
		var e *Error
		if errors.As(err, &e); e.Rule != "unknown orchestration_events.event_type" || e.Error() != e.Rule {
			t.Errorf("rule %q, error %q", e.Rule, e)
		}
		wantNotesAfter(t, s, path)
	})

	t.Run("Constraint", func(t *testing.T) {
		s := open(t, fresh(t), Options{})
		for _, statement := range []string{
			"INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', 'neither', 'd')",
			"INSERT INTO review_rounds (session_id, round_number) VALUES ('none', 1)",
			"INSERT INTO sessions (id) VALUES ('s')",
		} {
			err := s.Write(ctx, func(ctx context.Context, tx *Tx) error {
				_, err := tx.conn.ExecContext(ctx, statement)
				return err
			})
			wantKind(t, err, KindConstraint)
		}
	})

	t.Run("NoSpace", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		err := s.Write(ctx, func(ctx context.Context, tx *Tx) error {
			must(t, addPair(1)(ctx, tx))
			_, err := tx.conn.ExecContext(ctx, `
PRAGMA max_page_count = 1;
INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', zeroblob(100000))`)
			return err
		})
		wantKind(t, err, KindNoSpace)
		must(t, s.Close())
		wantNotesAfter(t, open(t, path, Options{}), path)
	})

	t.Run("Savepoint", func(t *testing.T) {
		path := fresh(t)
		s := open(t, path, Options{})
		must(t, s.Write(ctx, func(ctx context.Context, tx *Tx) error {
			must(t, tx.Savepoint(ctx, func() error {
				err := tx.Savepoint(ctx, func() error {
					must(t, addPair(1)(ctx, tx))
					return errWanted
				})
				if err != errWanted {
					t.Errorf("error %v, want it as it was returned", err)
				}
				return addPair(2)(ctx, tx)
			}))
			return nil
		}))
		if got := notes(t, path); got != 2 {
			t.Errorf("%d notes, want the 2 of the outer part", got)
		}
	})
}

func TestWriteBusy(t *testing.T) {
	ctx := context.Background()
	for name, short := range map[string]waits{
		"Retries": {engine: 20 * time.Millisecond, pause: time.Millisecond, retries: 3, total: time.Minute},
		"Bounded": {engine: time.Minute, pause: time.Millisecond, retries: 3, total: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			path := fresh(t)
			holder := open(t, path, Options{})
			o := newOpener(path, Options{})
			o.waits = short
			waiter, err := o.open(ctx)
			must(t, err)
			defer waiter.Close()
			must(t, holder.Write(ctx, func(ctx context.Context, tx *Tx) error {
				err := waiter.Write(ctx, addPair(1))
				wantKind(t, err, KindBusy)
				if text := err.Error(); !strings.Contains(text, path) || strings.Contains(text, "context") || strings.Contains(text, "interrupt") {
					t.Errorf("%q", text)
				}
				return nil
			}))
			must(t, waiter.Write(ctx, addPair(1)))
			if got := notes(t, path); got != 2 {
				t.Errorf("%d notes, want the 2 of the second attempt", got)
			}
		})
	}

	t.Run("ContextEnds", func(t *testing.T) {
		path := fresh(t)
		holder, waiter := open(t, path, Options{}), open(t, path, Options{})
		must(t, holder.Write(ctx, func(context.Context, *Tx) error {
			short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
			defer cancel()
			if err := waiter.Write(short, addPair(1)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want that of the context", err)
			}
			return nil
		}))
	})

	t.Run("LockFile", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ocr.db")
		o := newOpener(path, Options{Create: true})
		unlock, err := o.lock(ctx)
		must(t, err)
		o.waits.total = 30 * time.Millisecond
		_, err = o.open(ctx)
		wantKind(t, err, KindBusy)
		if text := err.Error(); !strings.Contains(text, path) || strings.Contains(text, "context") {
			t.Errorf("%q", text)
		}
		must(t, unlock())
		s, err := o.open(ctx)
		must(t, err)
		must(t, s.Close())
	})
}

// TestWriteMany lets processes write at once: none fails, no write is lost.
func TestWriteMany(t *testing.T) {
	path := fresh(t)
	const processes, writes = 8, 25
	done := make(chan error)
	for range processes {
		go func() {
			out, err := command("write", path, "25").CombinedOutput()
			if err != nil {
				t.Logf("%s", out)
			}
			done <- err
		}()
	}
	for range processes {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := notes(t, path); got != processes*writes*2 {
		t.Errorf("%d notes, want %d", got, processes*writes*2)
	}
}

// wantNotesAfter says that nothing was written, and that writing goes on.
func wantNotesAfter(t *testing.T, s *Store, path string) {
	t.Helper()
	if got := notes(t, path); got != 0 {
		t.Errorf("%d notes stayed", got)
	}
	must(t, s.Write(context.Background(), addPair(1)))
	if got := notes(t, path); got != 2 {
		t.Errorf("%d notes after the next write, want 2", got)
	}
}
