package db

import (
	"context"
	"fmt"
	"path/filepath"
)

// CheckCopy says whether the file at path, a snapshot, is a whole database of
// ours; the error tells what is wrong with it. It reads the whole file and
// changes nothing.
func CheckCopy(ctx context.Context, path string) error {
	return Inspect(ctx, path, func(ctx context.Context, r *Reader) error {
		faults, err := names(ctx, r.conn, "PRAGMA quick_check(1)")
		switch {
		case err != nil:
			return err
		case len(faults) != 1 || faults[0] != "ok":
			return &Error{
				Kind: KindCorrupt, Path: path,
				Message: fmt.Sprintf("the copy %s is damaged: %v", filepath.Base(path), faults),
				Hint:    "keep the file and use another copy",
			}
		}
		var core int
		err = r.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('sessions', 'orchestration_events')").Scan(&core)
		if err == nil && core < 2 {
			err = foreignError(path)
		}
		return err
	})
}
