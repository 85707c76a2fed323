package db

import (
	"context"
	"path/filepath"
	"testing"
)

// TestWhoseFile: every way into a file gives the same answer to whose it is.
func TestWhoseFile(t *testing.T) {
	for _, c := range []struct {
		name       string
		statements []string
		kind       Kind
	}{
		{"OnlySessions", []string{"CREATE TABLE sessions (id TEXT)", "INSERT INTO sessions VALUES ('s')"}, KindForeignDatabase},
		{"OnlyEvents", []string{"CREATE TABLE orchestration_events (id INTEGER)", "INSERT INTO orchestration_events VALUES (1)"}, KindForeignDatabase},
		{"Marked", []string{"CREATE TABLE sessions (id TEXT)", "CREATE TABLE orchestration_events (id INTEGER)", "PRAGMA application_id = 7"}, KindForeignDatabase},
		{"Others", []string{"CREATE TABLE photos (id INTEGER)", "INSERT INTO photos VALUES (1)"}, KindForeignDatabase},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ocr.db")
			raw(t, path, c.statements...)
			_, err := Open(t.Context(), path, Options{})
			wantKind(t, err, c.kind)
			wantKind(t, readNothing(path), c.kind)
			wantKind(t, CheckCopy(t.Context(), path), c.kind)
			_, err = Salvage(t.Context(), path, path+".saved")
			wantKind(t, err, c.kind)
			wantKind(t, Inspect(t.Context(), path, func(ctx context.Context, r *Reader) error {
				_, err := r.Standing(ctx)
				return err
			}), c.kind)
		})
	}
}
