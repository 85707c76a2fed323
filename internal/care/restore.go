package care

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// KindNoSnapshot: there is no file of the name given.
const KindNoSnapshot = "no_snapshot"

// Restore puts a copy of a snapshot in the place of the database, and keeps
// what was there; see db.RestoreSnapshot. The error is a *lifecycle.Error when
// there is no such snapshot, and while a dashboard runs or another process has
// the database open.
func Restore(ctx context.Context, c lifecycle.Caller, snapshot string) (db.Restored, error) {
	if _, err := os.Stat(snapshot); errors.Is(err, fs.ErrNotExist) {
		return db.Restored{}, refuse(lifecycle.NotFound, KindNoSnapshot, "ocr db snapshots", nil, "there is no file %s", snapshot)
	}
	if pid, running := dashboard(c.Project); running {
		return db.Restored{}, refuse(lifecycle.Invariant, KindDashboard, "stop the dashboard, then run the same command again",
			dashboardDetails{pid}, "a dashboard is running (process %d, %s)", pid, c.Project.DashboardPID())
	}
	path := c.Project.Database()
	done, err := db.RestoreSnapshot(ctx, path, snapshot)
	switch db.KindOf(err) {
	case "":
		c.KeepIgnored()
	case db.KindSameFile:
		return done, refuse(lifecycle.Usage, string(db.KindSameFile), "ocr db snapshots", nil, "%s is the database itself", snapshot)
	case db.KindInUse:
		holders := db.Holders(path)
		return done, refuse(lifecycle.Invariant, KindInUse, "end what uses the database, then run the same command again",
			inUseDetails{holders}, "nothing was replaced: the database is in use by %s", whom(holders))
	}
	return done, err
}

// besideDatabase is the path of a file of that name beside the real database,
// wherever links to it stand.
func besideDatabase(database, name string) string {
	return filepath.Join(filepath.Dir(db.RealPath(database)), name)
}

// FindSnapshot is the path of a snapshot: a bare name means one beside the
// database if there is one, any other path counts from dir.
func FindSnapshot(c lifecycle.Caller, dir, name string) string {
	if name == filepath.Base(name) {
		beside := besideDatabase(c.Project.Database(), name)
		if _, err := os.Lstat(beside); err == nil {
			return beside
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
