// Package db keeps the one database file: it opens it, brings its schema up to
// date, and lends out transactions. It is the only code that knows the engine
// and the migration library. Files are made for others to share: the rules for
// reading leave nothing behind, those for writing wait in line.
package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
)

// Options say how Open may change what it finds.
type Options struct {
	// Create makes a missing database, and its folder.
	Create bool
	// NoSnapshot upgrades without keeping a copy of the file as it was.
	NoSnapshot bool
	// Notice, if set, gets the lines that tell people what an upgrade did.
	Notice func(line string)
	// Progress, if set, gets a line for each stage of a long upgrade, to be
	// shown in the place of the one before; the empty line ends it.
	Progress func(line string)
	// Waiting, if set, gets a line once another process has kept a lock for a
	// second, and again each second, to be shown in the place of the one
	// before; the empty line ends it. It is called from another goroutine,
	// and no more once the call that waited has returned.
	Waiting func(line string)
	// Reconcile, if set, runs inside the transaction of the step that brings
	// the guarded completion (12), and repairs sessions that older programs
	// left contradicting themselves: with that step, or not at all. The
	// tables are those of that step; of the views it may use those that tell
	// the current round, event_facts, opening_events, closing_events and
	// session_current, which are lent to it. It returns lines for Notice.
	Reconcile func(ctx context.Context, tx *Tx) (lines []string, err error)
}

// Store is an open database of the latest schema version, ready to write.
type Store struct {
	path  string
	pool  *sql.DB
	waits waits
	// version is that of the schema, which every transaction finds.
	version int
}

// Open opens the database at path for writing. A database of an earlier
// version is upgraded first. Every failure is an *Error or the error of ctx,
// and leaves the file as it was.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	return newOpener(path, opt).open(ctx)
}

func newOpener(path string, opt Options) opener {
	waits := defaultWaits
	waits.waiting = opt.Waiting
	return opener{path: RealPath(path), steps: embedded, waits: waits, engine: "sqlite", disk: realDisk{}, opt: opt}
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
	// engine is the name of the driver in package database/sql.
	engine string
	disk   disk
	opt    Options
	// trace is what an earlier database had left when the work began.
	trace string
	// started, if set, is told each step before it runs, in its transaction.
	started func(step int)
	// empty says that the steps run on a copy of the schema without rows.
	empty bool
	// wrote, if set, is told each row that a step writes.
	wrote func(rowWrite)
}

// open opens the database, and tells people what had to be done for it.
func (o opener) open(ctx context.Context) (*Store, error) {
	store, done, err := o.openUpgraded(ctx)
	o.progress("")
	o.tell(done)
	return store, err
}

// openUpgraded looks first: a database that is as it should be is opened
// without waiting for the lock file.
func (o opener) openUpgraded(ctx context.Context) (*Store, Upgraded, error) {
	now, err := o.look(ctx)
	if err != nil {
		return nil, Upgraded{}, err
	}
	if !now.current() || now.dirty {
		return o.ensure(ctx)
	}
	o.warnShared(now)
	done := Upgraded{From: now.version(), To: now.version()}
	store, err := o.connect("rw")
	if err != nil {
		return nil, done, err
	}
	var mode string
	err = store.on(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	})
	if err == nil && mode == "wal" {
		return store, done, nil
	}
	if err := join(err, store.Close()); err != nil {
		return nil, done, err
	}
	return o.ensure(ctx)
}

// warnShared says that another program has run shared steps which this one
// does not know.
func (o opener) warnShared(now standing) {
	if now.shared > SharedLatest && o.opt.Notice != nil {
		o.opt.Notice(fmt.Sprintf("warning: %s is at version %d of the shared schema, this program knows versions up to %d: look for a newer one", o.path, now.shared, SharedLatest))
	}
}

func (o opener) progress(line string) {
	if o.opt.Progress != nil {
		o.opt.Progress(line)
	}
}

// look reads where the database stands, by the rules for reading, and
// refuses those this program must not write.
func (o opener) look(ctx context.Context) (standing, error) {
	var now standing
	err := view(ctx, o.path, func(ctx context.Context, conn *sql.Conn) error {
		var err error
		now, err = inspect(ctx, conn, o.path, o.steps)
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
	pool, err := sql.Open(o.engine, dsn)
	if err != nil {
		return nil, engineError(o.path, err)
	}
	pool.SetMaxOpenConns(1)
	return &Store{path: o.path, pool: pool, waits: o.waits, version: highest(o.steps)}, nil
}
