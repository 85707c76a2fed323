package care

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// PruneSnapshotsOptions say how many snapshots stay.
type PruneSnapshotsOptions struct {
	// Keep is how many of the newest stay, whatever their state.
	Keep int64
	// DryRun says what would go and changes nothing.
	DryRun bool
	// Force lets the newest good one go as well, where Keep does not spare it.
	Force bool
}

// Snapshot is one copy of the database beside it.
type Snapshot struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// At is when it was made: RFC 3339, UTC.
	At string `json:"at"`
}

// SnapshotsPruned says which went, or would go, and which stay; both newest
// first.
type SnapshotsPruned struct {
	Removed []Snapshot
	Kept    []Snapshot
	// Spared is the name of the newest good one, when it stays for that reason
	// alone; else empty.
	Spared string
}

// PruneSnapshots removes old snapshots: copies that ocr, or another program, made
// before an upgrade or before maintenance. Other files stay. The newest one
// that is a whole database stays too, unless forced. Keeping none takes Force
// or DryRun: the error is a *lifecycle.Error otherwise.
func PruneSnapshots(ctx context.Context, c lifecycle.Caller, opt PruneSnapshotsOptions) (SnapshotsPruned, error) {
	result := SnapshotsPruned{Removed: []Snapshot{}, Kept: []Snapshot{}}
	if opt.Keep == 0 && !opt.Force && !opt.DryRun {
		return result, refuse(lifecycle.Usage, KindKeepsNone, "ocr db prune-snapshots --keep 0 --dry-run", nil,
			"keeping no snapshot at all needs more than --keep 0: see ocr db prune-snapshots --help")
	}
	all, err := snapshots(c.Project.Database())
	if err != nil {
		return result, err
	}
	good := ""
	if !opt.Force {
		if good, err = newestGood(ctx, c, all); err != nil {
			return result, err
		}
	}
	for i, s := range all {
		switch {
		case int64(i) < opt.Keep:
			result.Kept = append(result.Kept, s)
		case s.Name == good:
			result.Kept, result.Spared = append(result.Kept, s), s.Name
		default:
			result.Removed = append(result.Removed, s)
		}
	}
	if opt.DryRun {
		return result, nil
	}
	c.KeepIgnored()
	for i, s := range result.Removed {
		err := os.Remove(besideDatabase(c.Project.Database(), s.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			result.Removed = result.Removed[:i]
			return result, err
		}
	}
	return result, nil
}

// newestGood is the name of the newest whole copy, or empty.
func newestGood(ctx context.Context, c lifecycle.Caller, all []Snapshot) (string, error) {
	for _, s := range all {
		if db.CheckCopy(ctx, besideDatabase(c.Project.Database(), s.Name)) == nil {
			return s.Name, nil
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
	return "", nil
}

// snapshots lists the copies that programs made before an upgrade or before
// maintenance, newest first.
func snapshots(database string) ([]Snapshot, error) {
	return copies(database, db.SnapshotFile.Routine)
}

// copies lists those copies beside the database that are wanted, newest first.
func copies(database string, wanted func(db.SnapshotFile) bool) ([]Snapshot, error) {
	files, err := db.Snapshots(database)
	var list []Snapshot
	for _, f := range files {
		if wanted(f) {
			list = append(list, Snapshot{f.Name, f.Bytes, f.At.UTC().Format(time.RFC3339)})
		}
	}
	return list, err
}
