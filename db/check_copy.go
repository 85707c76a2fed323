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
		found, err := quickCheck(ctx, r.conn, 1)
		switch {
		case err != nil:
			return err
		case len(found) > 0:
			return &Error{
				Kind: KindCorrupt, Path: path,
				Message: fmt.Sprintf("the copy %s is damaged: %s", filepath.Base(path), some(found)),
				Hint:    "keep the file and use another copy",
			}
		}
		c, err := readOrigin(ctx, r.conn)
		if err == nil && !c.ours() {
			err = foreignError(path)
		}
		return err
	})
}
