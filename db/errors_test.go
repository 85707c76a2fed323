package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestFileError(t *testing.T) {
	for _, c := range []struct {
		err         error
		read, write Kind
	}{
		{os.ErrNotExist, KindNoDatabase, KindNoDatabase},
		{syscall.EACCES, KindUnreadable, KindReadOnly},
		{syscall.EROFS, KindReadOnly, KindReadOnly},
		{syscall.ENOSPC, KindNoSpace, KindNoSpace},
		{syscall.EIO, KindIO, KindIO},
		{syscall.EMFILE, KindIO, KindIO},
		{context.Canceled, "", ""},
		{noDatabaseError("x"), KindNoDatabase, KindNoDatabase},
	} {
		err := fmt.Errorf("at work: %w", c.err)
		if got := KindOf(fileError("x", err)); got != c.read {
			t.Errorf("%v, reading: %q, want %q", c.err, got, c.read)
		}
		if got := KindOf(writeFileError("x", err)); got != c.write {
			t.Errorf("%v, writing: %q, want %q", c.err, got, c.write)
		}
	}
}

func TestTooManyFiles(t *testing.T) {
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE} {
		cause = fmt.Errorf("at work: %w", &os.PathError{Op: "open", Path: "x", Err: cause})
		for name, err := range map[string]error{
			"file": fileError("x", cause), "write": writeFileError("x", cause),
			"copy": copyError("x", cause), "upgraded copy": noCopyError("x", cause),
		} {
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Hint, "ulimit -n") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestSchemaError(t *testing.T) {
	p, _ := promptOn(t, fresh(t))
	for statement, want := range map[string]Kind{
		"SELECT * FROM sessions_of_old":             KindSchema,
		"SELECT mood FROM sessions":                 KindSchema,
		"INSERT INTO user_notes (mood) VALUES ('')": KindSchema,
		"SELECT json_extract('{', '$')":             KindInternal,
		"SELECT nothing(1)":                         KindInternal,
	} {
		_, err := p.conn.ExecContext(t.Context(), statement)
		if got := KindOf(engineError("x", err)); got != want {
			t.Errorf("%s: %q, want %q: %v", statement, got, want, err)
		}
	}
}
