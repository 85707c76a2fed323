package care

import (
	"context"

	"ocr/db"
	"ocr/internal/doctor"
	"ocr/internal/lifecycle"
)

// RepairOptions are what a person may choose about Repair.
type RepairOptions struct {
	// NoSnapshot leaves out the copy that is made first.
	NoSnapshot bool
	// Force goes on beside a dashboard.
	Force bool
}

// Repaired says what Repair has done.
type Repaired struct {
	// Deleted counts rows by table; empty when nothing was to do.
	Deleted map[string]int64
	// Snapshot is the path of the copy made first, or empty.
	Snapshot string
}

// Repair deletes artifact rows that refer to something that is gone, after a
// copy of the file. Rows of sessions, events and processes stay, and so does
// what people wrote and what it hangs on. Where no row can go it makes no copy.
// While the schema is not as expected it deletes nothing.
func Repair(ctx context.Context, c lifecycle.Caller, opt RepairOptions) (Repaired, error) {
	var done Repaired
	if err := noDashboard(c, opt.Force); err != nil {
		return done, err
	}
	if err := c.Upgrade(ctx); err != nil {
		return done, err
	}
	health, err := db.ReadHealth(ctx, c.Project.Database(), c.Options())
	if err != nil || len(health.Orphans) == 0 {
		return done, err
	}
	some, err := doctor.AnyOrphans(ctx, c)
	if err != nil || !some {
		return done, err
	}
	if !opt.NoSnapshot {
		if done.Snapshot, err = db.Snapshot(ctx, c.Project.Database(), "doctor"); err != nil {
			return done, err
		}
	}
	done.Deleted, err = doctor.DeleteOrphans(ctx, c)
	return done, err
}
