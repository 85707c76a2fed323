package db

import (
	"context"
	"database/sql"

	"ocr/db/gen"
)

// Inspect runs fn on one consistent view of the file at path, as Read does,
// but whatever its version, its marks or its damage: it is for looking at
// files that other verbs refuse. fn may run again from the start. Schema of
// the Reader knows nothing here, and the named queries work only where the
// file has what they name.
func Inspect(ctx context.Context, path string, fn func(ctx context.Context, r *Reader) error) error {
	path = RealPath(path)
	return view(ctx, path, func(ctx context.Context, conn *sql.Conn) error {
		return fn(ctx, &Reader{Queries: gen.New(conn), conn: conn, path: path})
	})
}

// Classify gives an error that a statement met on the file at path its kind,
// as an *Error. Errors of a context come back as they are.
func Classify(path string, err error) error { return engineError(path, err) }
