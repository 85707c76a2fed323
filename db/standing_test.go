package db

import (
	"context"
	"testing"
)

// TestStanding: what the ledgers say, and why nothing can upgrade the file.
func TestStanding(t *testing.T) {
	for _, c := range []struct {
		name    string
		damage  string
		version int
		problem Kind
		mixed   bool
	}{
		{"Sound", "SELECT 1", Latest(), "", false},
		{"Newer", "UPDATE schema_migrations SET version = version + 1", Latest() + 1, "", false},
		{"OwnLedgerBehind", "UPDATE schema_migrations SET version = 10", SharedLatest, KindHalfUpgraded, true},
		{"Dirty", "UPDATE schema_migrations SET dirty = 1; DROP VIEW session_completeness", Latest(), KindDirty, false},
		{"TableGone", "DROP TABLE process_identity", Latest(), KindOutOfOrder, false},
		{"SharedLedgerGone", "DROP TABLE schema_version", Latest(), KindHalfUpgraded, false},
		{"SharedStepGone", "DELETE FROM schema_version WHERE version = 7", Latest(), KindHalfUpgraded, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := fresh(t)
			raw(t, path, c.damage)
			var s Standing
			must(t, Inspect(t.Context(), path, func(ctx context.Context, r *Reader) (err error) {
				s, err = r.Standing(ctx)
				return err
			}))
			problem := Kind("")
			if s.Problem != nil {
				problem = s.Problem.Kind
			}
			if s.Version != c.version || problem != c.problem || s.Mixed != c.mixed {
				t.Errorf("%+v, problem %q", s, problem)
			}
			_, err := Open(t.Context(), path, Options{})
			if c.name == "Newer" {
				c.problem = KindNewerSchema
			}
			wantKind(t, err, c.problem)
		})
	}
}
