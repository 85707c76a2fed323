package care

import (
	"context"

	"ocr/db"
)

// CheckedSnapshot is one copy of the database beside it, read as a whole.
type CheckedSnapshot struct {
	Snapshot
	// Version is the schema version inside, 0 where it cannot be told.
	Version int
	// Fault is why it cannot be put in the place of the database; nil when it
	// can.
	Fault error
}

// ListSnapshots lists every copy beside the database, newest first, and says
// of each whether it can be used.
func ListSnapshots(ctx context.Context, database string) ([]CheckedSnapshot, error) {
	all, err := copies(database, func(db.SnapshotFile) bool { return true })
	if err != nil {
		return nil, err
	}
	list := []CheckedSnapshot{}
	for _, s := range all {
		c := CheckedSnapshot{Snapshot: s}
		c.Version, c.Fault = db.CheckSnapshot(ctx, besideDatabase(database, s.Name))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}
