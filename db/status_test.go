package db

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
)

// TestReadStatus tells where files of every kind stand, and changes none.
func TestReadStatus(t *testing.T) {
	all, err := Steps()
	must(t, err)
	read := func(t *testing.T, path string) Status {
		t.Helper()
		before := state(t, filepath.Dir(path))
		s, err := ReadStatus(t.Context(), path)
		must(t, err)
		if after := state(t, filepath.Dir(path)); after != before {
			t.Errorf("changed\n%s\nto\n%s", before, after)
		}
		return s
	}
	for _, version := range []int{1, 9, SharedLatest, SharedLatest + 1, Latest()} {
		s := read(t, oldFile(t, version))
		if s.Version != version || s.Latest != Latest() || s.Problem != nil || len(s.Unknown) > 0 || s.MainBytes == 0 || s.LogBytes != 0 {
			t.Errorf("version %d: %+v", version, s)
		}
		if !slices.Equal(s.Applied, all[:version]) || !slices.Equal(s.Pending, all[version:]) {
			t.Errorf("version %d: applied %v, pending %v", version, s.Applied, s.Pending)
		}
	}
	for _, c := range []struct {
		name, statement string
		version         int
		kind            Kind
	}{
		{"Gap", "DELETE FROM schema_version WHERE version = 4", 9, KindHalfUpgraded},
		{"NoLedger", "DROP TABLE schema_version", 9, KindHalfUpgraded},
		{"NoTable", "DROP TABLE chat_messages", 9, KindHalfUpgraded},
		{"Dirty", "UPDATE schema_migrations SET dirty = 1; DROP VIEW session_completeness", 20, KindDirty},
		{"OutOfOrder", "DROP TABLE process_identity", 24, KindOutOfOrder},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := oldFile(t, c.version)
			raw(t, path, c.statement)
			s := read(t, path)
			if s.Problem == nil || s.Problem.Kind != c.kind {
				t.Errorf("problem %v", s.Problem)
			}
		})
	}
	t.Run("Newer", func(t *testing.T) {
		path := fresh(t)
		raw(t, path, "UPDATE schema_migrations SET version = 900", "INSERT INTO schema_version (version, description) VALUES (15, 'x')")
		s := read(t, path)
		if s.Version != 900 || s.Problem != nil || len(s.Pending) > 0 || !slices.Equal(s.Unknown, []int{15, 900}) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("BesideAWriter", func(t *testing.T) {
		path := fresh(t)
		pool, err := sql.Open("sqlite", mustAddress(path))
		must(t, err)
		defer pool.Close()
		_, err = pool.ExecContext(context.Background(), addNote, "held")
		must(t, err)
		if s := read(t, path); s.LogBytes == 0 || s.IndexBytes == 0 {
			t.Errorf("%+v", s)
		}
	})
}
