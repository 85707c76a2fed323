package lifecycle

import (
	"context"
	"time"

	"ocr/db"
)

// RehearseUpgrade finds out what an upgrade of the database file at path to
// the schema version to would do, the repair of its sessions included, and
// changes nothing; 0 means the latest version. See db.DryRun.
func RehearseUpgrade(ctx context.Context, c Caller, path string, to int) (db.Rehearsal, Reconciliation, error) {
	at := time.Now().UTC()
	plan := Reconciliation{Actions: []ReconcileAction{}, Unreadable: []UnreadableSession{}}
	opt := c.options(false)
	opt.Reconcile = func(ctx context.Context, tx *db.Tx) (lines []string, err error) {
		if plan, err = c.reconcilable(ctx, tx.Queries, at); err != nil {
			return nil, err
		}
		return plan.warnings, plan.apply(ctx, tx, at)
	}
	rehearsal, err := db.DryRun(ctx, path, to, opt)
	return rehearsal, plan, err
}
