package care

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	at time.Time
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

// PruneSnapshots removes old snapshots: copies that ocr, or the Node line, made
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
	for i, s := range result.Removed {
		err := os.Remove(filepath.Join(c.Project.Data(), s.Name))
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
		if db.CheckCopy(ctx, filepath.Join(c.Project.Data(), s.Name)) == nil {
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
	list, err := copies(database)
	return slices.DeleteFunc(list, func(s Snapshot) bool {
		return !routine(strings.TrimPrefix(s.Name, filepath.Base(database)+".bak."))
	}), err
}

// copies lists all copies beside the database, newest first. Without a stamp in
// the name the time of the file counts.
func copies(database string) ([]Snapshot, error) {
	entries, err := os.ReadDir(filepath.Dir(database))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []Snapshot
	for _, entry := range entries {
		name, ours := strings.CutPrefix(entry.Name(), filepath.Base(database)+".bak.")
		if !ours || !entry.Type().IsRegular() || sideFile(name) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_, stamp, _ := strings.Cut(name, ".")
		at, stamped := stampedAt(stamp)
		if !stamped {
			at = info.ModTime()
		}
		list = append(list, Snapshot{entry.Name(), info.Size(), at.UTC().Format(time.RFC3339), at})
	}
	slices.SortFunc(list, func(a, b Snapshot) int {
		if order := b.at.Compare(a.at); order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, nil
}

// sideFile knows the files that the engine keeps beside an open database.
func sideFile(name string) bool {
	return slices.ContainsFunc([]string{"-wal", "-shm", "-journal"}, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// routine knows the end of a snapshot's name that a program chose: v14,
// v14.STAMP, or one of doctor, vacuum and prune with a STAMP.
func routine(name string) bool {
	reason, stamp, more := strings.Cut(name, ".")
	version, numbered := strings.CutPrefix(reason, "v")
	numbered = numbered && version != "" && strings.Trim(version, "0123456789") == ""
	_, stamped := stampedAt(stamp)
	return numbered && !more || stamped && (numbered || slices.Contains([]string{"doctor", "vacuum", "prune"}, reason))
}

// stampedAt reads the stamp of a moment, which has a dash where Go's layouts
// want a dot.
func stampedAt(stamp string) (time.Time, bool) {
	whole, milliseconds, found := cutLast(stamp, "-")
	if !found {
		return time.Time{}, false
	}
	at, err := time.Parse("2006-01-02T15-04-05.000Z", whole+"."+milliseconds)
	return at, err == nil
}

func cutLast(text, mark string) (before, after string, found bool) {
	i := strings.LastIndex(text, mark)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(mark):], true
}
