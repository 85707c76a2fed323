package db

import (
	"context"
	"database/sql"
	"fmt"

	"ocr/db/gen"
)

// Reader is one consistent view of a database.
type Reader struct {
	*gen.Queries
	conn *sql.Conn
	now  standing
}

// Read runs fn on one consistent view of the database at path and changes
// nothing: not the file, not its times, and no side file is left that was
// not there. Where another process writes at that moment, fn may run again
// from the start; only its last result counts, so it must keep nothing from
// an earlier run. Engine errors come back as *Error, all others as fn
// returned them.
func Read(ctx context.Context, path string, fn func(ctx context.Context, r *Reader) error) error {
	return read(ctx, path, Latest(), fn)
}

func read(ctx context.Context, path string, latest int, fn func(ctx context.Context, r *Reader) error) error {
	return view(ctx, path, func(ctx context.Context, conn *sql.Conn) error {
		now, err := inspect(ctx, conn, path, latest)
		switch {
		case err != nil:
			return err
		case now.migrations < latest:
			return tooOldError(path, fmt.Sprintf("it is at schema version %d and reading needs %d; the next command that writes upgrades it", now.migrations, latest))
		}
		return fn(ctx, &Reader{Queries: gen.New(conn), conn: conn, now: now})
	})
}

// Query runs one statement of the caller's; see ReadOnlyStatement.
func (r *Reader) Query(ctx context.Context, statement string) (*sql.Rows, error) {
	if err := ReadOnlyStatement(statement); err != nil {
		return nil, err
	}
	return r.conn.QueryContext(ctx, statement)
}

// Schema returns the versions recorded in schema_migrations (all steps) and
// in schema_version (the shared ones).
func (r *Reader) Schema() (migrations, shared int) {
	return r.now.migrations, r.now.shared
}
