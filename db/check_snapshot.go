package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CheckSnapshot reads a whole snapshot and returns the schema version inside,
// 0 where it cannot be told. The error says what keeps it from being put in
// the place of the database: it is empty, damaged, not ours, half upgraded, or
// of a later version than this program knows.
func CheckSnapshot(ctx context.Context, path string) (version int, err error) {
	path = RealPath(path)
	info, err := os.Stat(path)
	if err != nil {
		return 0, fileError(path, err)
	}
	if info.Mode().IsRegular() && info.Size() == 0 {
		return 0, &Error{
			Kind: KindCorrupt, Path: path,
			Message: fmt.Sprintf("the copy %s is empty (0 bytes)", filepath.Base(path)),
			Hint:    "use another copy: ocr db snapshots lists them",
		}
	}
	if err := CheckCopy(ctx, path); err != nil {
		return 0, err
	}
	err = view(ctx, path, func(ctx context.Context, conn *sql.Conn) error {
		now, err := inspect(ctx, conn, path, embedded)
		version = now.version()
		var refused *Error
		switch {
		case err == nil && now.newer():
			err = newerError(path, now)
		case KindOf(err) == KindDirty && errors.As(err, &refused):
			// What else the error would name acts on the database of the project.
			refused.Hint = fmt.Sprintf("ocr db recover recovered.db --db '%s' saves what it holds into a new file", path)
		}
		return err
	})
	return version, err
}
