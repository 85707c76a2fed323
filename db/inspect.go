package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"ocr/db/gen"
)

// Inspect runs fn on one consistent view of the file at path, as Read does,
// but whatever its version, its marks or its damage: it is for looking at
// files that other verbs refuse. fn may run again from the start. Schema of
// the Reader knows nothing here, and the named queries work only where the
// file has what they name.
func Inspect(ctx context.Context, path string, fn func(ctx context.Context, r *Reader) error) error {
	return view(ctx, path, func(ctx context.Context, conn *sql.Conn) error {
		return fn(ctx, &Reader{Queries: gen.New(conn), conn: conn})
	})
}

// Blueprint runs fn on an empty database in memory that has the schema as it
// is after step version, for comparing a file with it.
func Blueprint(ctx context.Context, version int, fn func(ctx context.Context, r *Reader) error) (err error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = join(err, conn.Close()) }()
	names, err := fs.Glob(embedded, "schema/*.up.sql")
	if err != nil {
		return err
	}
	for _, name := range names[:min(version, len(names))] {
		body, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, string(body)); err != nil {
			return fmt.Errorf("schema step %s: %w", name, err)
		}
	}
	if version > SharedLatest {
		if _, err := conn.ExecContext(ctx, ledgerSQL); err != nil {
			return err
		}
	}
	return fn(ctx, &Reader{Queries: gen.New(conn), conn: conn})
}

// Classify gives an error that a statement met on the file at path its kind,
// as an *Error. Errors of a context come back as they are.
func Classify(path string, err error) error { return engineError(path, err) }
