package db

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTrace: a database that is gone or empty is none, but what it left tells
// that there was one.
func TestTrace(t *testing.T) {
	age := func(path string) {
		old := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(path+".lock", old, old))
	}
	for name, lose := range map[string]func(path string) error{
		"Gone":    os.Remove,
		"Emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			path := fresh(t)
			must(t, lose(path))
			age(path)
			err := readNothing(path)
			wantKind(t, err, KindNoDatabase)
			if !strings.Contains(err.Error(), "the lock file is there") {
				t.Errorf("%v", err)
			}
			var lines []string
			open(t, path, Options{Create: true, Notice: func(line string) { lines = append(lines, line) }})
			if len(lines) != 1 || !strings.Contains(lines[0], "a new database was made at "+path) {
				t.Errorf("%q", lines)
			}
		})
	}
	t.Run("Never", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ocr.db")
		if err := readNothing(path); KindOf(err) != KindNoDatabase || strings.Contains(err.Error(), "is there") {
			t.Errorf("%v", err)
		}
		store, err := Open(context.Background(), path, Options{Create: true, Notice: func(line string) { t.Error(line) }})
		must(t, err)
		must(t, store.Close())
	})
}
