package db

import (
	"context"
	"database/sql"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"ocr/db/gen"
)

// Reader is one consistent view of a database.
type Reader struct {
	*gen.Queries
	conn *sql.Conn
	// path is the file itself, also where a copy is read.
	path string
	now  standing
}

// Read runs fn on one consistent view of the database at path and changes
// nothing: not the file, not its times, and no side file is left that was
// not there. Where another process writes at that moment, fn may run again
// from the start; only its last result counts, so it must keep nothing from
// an earlier run. A file of an earlier version is refused with
// KindOldSchema: ReadUpgraded answers for those. Engine errors come back as
// *Error, all others as fn returned them.
func Read(ctx context.Context, path string, fn func(ctx context.Context, r *Reader) error) error {
	path = RealPath(path)
	return view(ctx, path, func(ctx context.Context, conn *sql.Conn) error {
		now, err := readable(ctx, conn, path, embedded)
		switch {
		case err != nil:
			return err
		case now.old():
			return oldError(path, now)
		}
		return fn(ctx, &Reader{Queries: gen.New(conn), conn: conn, path: path, now: now})
	})
}

// MaxValue bounds in bytes each text and blob that a statement of the caller's
// may read or make: a little more than the longest document takes.
const MaxValue = 33 << 20

// Query runs one statement of the caller's; see ReadOnlyStatement and MaxValue.
func (r *Reader) Query(ctx context.Context, statement string) (*sql.Rows, error) {
	if err := ReadOnlyStatement(statement); err != nil {
		return nil, err
	}
	if _, err := sqlite.Limit(r.conn, lib.SQLITE_LIMIT_LENGTH, MaxValue); err != nil {
		return nil, err
	}
	return r.conn.QueryContext(ctx, statement)
}

// Schema returns the versions recorded in schema_migrations (all steps) and
// in schema_version (the shared ones).
func (r *Reader) Schema() (migrations, shared int) {
	return r.now.migrations, r.now.shared
}
