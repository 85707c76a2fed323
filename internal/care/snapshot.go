package care

import (
	"context"
	"strings"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// KindBadName: a snapshot cannot be named so.
const KindBadName = "bad_name"

// maxSnapshotName is the longest name in bytes, so that the file name with it
// stays short on every system.
const maxSnapshotName = 64

// TakeSnapshot keeps a copy of the database beside it and returns its path;
// see db.Snapshot. The name becomes a part of the file name: letters, digits,
// dashes and underscores. Names that programs choose are refused, because
// PruneSnapshots removes such copies. The error is a *lifecycle.Error for a bad
// name.
func TakeSnapshot(ctx context.Context, c lifecycle.Caller, name string) (string, error) {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
	}
	switch {
	case name == "" || len(name) > maxSnapshotName || name[0] == '-' || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
		return "", refuse(lifecycle.Usage, KindBadName, "ocr db snapshot --name before-the-change", nil,
			"%q cannot name a snapshot: it takes 1 to %d letters, digits, dashes and underscores, with no dash in front", name, maxSnapshotName)
	case db.RoutineLabel(name):
		return "", refuse(lifecycle.Usage, KindBadName, "ocr db snapshot --name my-"+name, nil,
			"%q is a name that ocr gives to copies of its own, which prune-snapshots removes", name)
	}
	path, err := db.Snapshot(ctx, c.Project.Database(), name)
	if err == nil {
		c.KeepIgnored()
	}
	return path, err
}
