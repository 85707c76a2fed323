package lifecycle

import (
	"context"
	"os"
	"time"

	"ocr/db"
)

// RehearseUpgrade finds out what an upgrade of the database file at path to
// the schema version to would do, the repair of its sessions included, and
// changes nothing; 0 means the latest version. The repair looks for the final
// texts of sessions in the project of the caller: a note says when there is
// none. See db.DryRun.
func RehearseUpgrade(ctx context.Context, c Caller, path string, to int) (db.Rehearsal, Reconciliation, error) {
	at := time.Now().UTC()
	plan := Reconciliation{Actions: []ReconcileAction{}, Unreadable: []UnreadableSession{}}
	opt := c.options(false)
	opt.Reconcile = func(ctx context.Context, tx *db.Tx) (lines []string, err error) {
		if plan, err = c.reconcilable(ctx, tx.Queries, at); err != nil {
			return nil, err
		}
		lines = plan.warnings
		if _, err := os.Stat(c.Project.Dir()); err != nil && len(plan.Actions) > 0 {
			lines = append(lines, noProjectNote)
		}
		return lines, plan.apply(ctx, tx, at)
	}
	rehearsal, err := db.DryRun(ctx, path, to, opt)
	return rehearsal, plan, err
}

const noProjectNote = "the repair of sessions depends on their files, which do not lie beside this database: --project DIR, with the folder that holds .ocr, tells what the upgrade does there"
