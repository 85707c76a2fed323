// Package db keeps the one database file: it opens it, brings its schema up to
// date, and lends out transactions. It is the only code that knows the engine
// and the migration library. Files are made for others to share: the rules for
// reading leave nothing behind, those for writing wait in line.
package db

import (
	"context"
	"database/sql"
	"io/fs"
)

// Options say how Open may change what it finds.
type Options struct {
	// Create makes a missing database, and its folder.
	Create bool
	// Notice, if set, gets one line when Open upgraded the schema.
	Notice func(line string)
}

// Store is an open database of the latest schema version, ready to write.
type Store struct {
	path  string
	pool  *sql.DB
	waits waits
}

// Open opens the database at path for writing. A database of an earlier
// version is upgraded first. Every failure is an *Error or the error of ctx,
// and leaves the file as it was.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	return opener{path: path, steps: embedded, waits: defaultWaits, opt: opt}.open(ctx)
}

// Close ends the connection.
func (s *Store) Close() error {
	return engineError(s.path, s.pool.Close())
}

// on runs fn on one connection.
func (s *Store) on(ctx context.Context, fn func(conn *sql.Conn) error) (err error) {
	conn, err := s.pool.Conn(ctx)
	if err != nil {
		return engineError(s.path, err)
	}
	defer func() { err = engineError(s.path, join(err, conn.Close())) }()
	return fn(conn)
}

// opener is one call of Open.
type opener struct {
	path  string
	steps fs.FS
	waits waits
	opt   Options
}

func (o opener) open(ctx context.Context) (*Store, error) {
	now, err := o.look(ctx)
	if err != nil {
		return nil, err
	}
	if !now.current() {
		return o.ensure(ctx)
	}
	store, err := o.connect("rw")
	if err != nil {
		return nil, err
	}
	var mode string
	err = store.on(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	})
	if err == nil && mode == "wal" {
		return store, nil
	}
	if err := join(err, store.Close()); err != nil {
		return nil, err
	}
	return o.ensure(ctx)
}

// look reads where the database stands, by the rules for reading, and
// refuses those this program must not write.
func (o opener) look(ctx context.Context) (standing, error) {
	var now standing
	err := view(ctx, o.path, func(ctx context.Context, conn *sql.Conn) error {
		var err error
		now, err = inspect(ctx, conn, o.path, highest(o.steps))
		return err
	})
	switch {
	case KindOf(err) == KindNoDatabase && o.opt.Create:
		return standing{latest: highest(o.steps)}, missingFileError(o.path)
	case err != nil:
		return now, err
	case now.newer():
		return now, newerError(o.path, now)
	}
	return now, nil
}

// connect opens the database; mode is rw, or rwc to create the file.
func (o opener) connect(mode string) (*Store, error) {
	dsn, err := address(o.path, "mode="+mode, settings(o.waits))
	if err != nil {
		return nil, fileError(o.path, err)
	}
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, engineError(o.path, err)
	}
	pool.SetMaxOpenConns(1)
	return &Store{path: o.path, pool: pool, waits: o.waits}, nil
}
