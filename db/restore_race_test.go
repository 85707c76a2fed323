package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// storeNote stores one note; stored says that the transaction stands.
func storeNote(ctx context.Context, path, note string) (stored bool, err error) {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return false, err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.conn.ExecContext(ctx, addNote, note)
		return err
	})
	return err == nil, join(err, s.Close())
}

// TestRestoreSnapshotBesideWriters: processes that write while snapshots are
// restored succeed or are told that the database is busy. Whatever one of them
// was told is stored, is in the database or in the copy kept of it.
func TestRestoreSnapshotBesideWriters(t *testing.T) {
	path := fresh(t)
	snapshots := []string{aSnapshot(t), oldFile(t, 12)}
	type writer struct {
		stop func() error
		out  *bytes.Buffer
	}
	var writers []writer
	for _, name := range []string{"a", "b"} {
		cmd := command("notes", path, name)
		stdin, err := cmd.StdinPipe()
		must(t, err)
		out, fault := &bytes.Buffer{}, &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, fault
		must(t, cmd.Start())
		writers = append(writers, writer{func() error {
			_ = stdin.Close()
			if err := cmd.Wait(); err != nil {
				return errors.New(fault.String())
			}
			return nil
		}, out})
	}
	restored, kept := 0, []string{path}
	end := time.Now().Add(10 * time.Second)
	for restored == 0 || restored < 8 && time.Now().Before(end) {
		if time.Since(end) > time.Minute {
			break
		}
		done, err := RestoreSnapshot(t.Context(), path, snapshots[restored%len(snapshots)])
		switch {
		case err == nil:
			restored++
			kept = append(kept, done.SetAside)
		case KindOf(err) != KindInUse && KindOf(err) != KindBusy:
			t.Errorf("restore: %v", err)
		}
	}
	var notes []string
	for _, w := range writers {
		if err := w.stop(); err != nil {
			t.Errorf("writer: %v", err)
		}
		notes = append(notes, strings.Fields(w.out.String())...)
	}
	if restored == 0 || len(notes) == 0 {
		t.Fatalf("%d restores, %d notes: nothing was tried", restored, len(notes))
	}
	there := map[string]bool{}
	for _, file := range kept {
		if faults := number(t, file, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"); faults != 0 {
			t.Errorf("%s: %d faults", filepath.Base(file), faults)
		}
		text, err := notesIn(t, file)
		must(t, err)
		for _, note := range strings.Fields(text) {
			there[note] = true
		}
	}
	lost := 0
	for _, note := range notes {
		if !there[note] {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d notes are lost", lost, len(notes))
	}
	t.Logf("%d restores, %d notes", restored, len(notes))
}

// TestRestoreSnapshotKeepsFile: the file stays the one that others may wait
// for; only its content is another one, whatever the size of its pages.
func TestRestoreSnapshotKeepsFile(t *testing.T) {
	for _, size := range []string{"4096", "1024"} {
		path := fresh(t)
		raw(t, path, "PRAGMA journal_mode = DELETE", "PRAGMA page_size = "+size, "VACUUM")
		before, err := os.Stat(path)
		must(t, err)
		_, err = RestoreSnapshot(t.Context(), path, aSnapshot(t))
		must(t, err)
		after, err := os.Stat(path)
		must(t, err)
		if !os.SameFile(before, after) {
			t.Errorf("pages of %s bytes: it is another file now", size)
		}
		wantNotes(t, path, "snapshot")
	}
}

// TestWriteElsewhere: a database whose version has changed since it was opened
// is not written.
func TestWriteElsewhere(t *testing.T) {
	for name, statement := range map[string]string{
		"Older": "UPDATE schema_migrations SET version = 12", "Newer": "UPDATE schema_migrations SET version = 999",
		"NoLedger": "DROP TABLE schema_migrations",
	} {
		path := fresh(t)
		s := open(t, path, Options{})
		raw(t, path, statement)
		err := s.Write(t.Context(), func(ctx context.Context, tx *Tx) error {
			t.Errorf("%s: it writes", name)
			return nil
		})
		wantKind(t, err, KindBusy)
		must(t, s.on(t.Context(), func(conn *sql.Conn) error {
			_, err := conn.ExecContext(t.Context(), "BEGIN; ROLLBACK")
			return err
		}))
		must(t, s.Close())
	}
}
