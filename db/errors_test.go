package db

import (
	"context"
	"fmt"
	"os"
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
