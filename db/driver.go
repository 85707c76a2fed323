package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/golang-migrate/migrate/v4/database"
)

// written is the pending version of a step that Run has recorded already.
const written = -2

// ledgerSQL is golang-migrate's own table, so that its tools can read it.
const ledgerSQL = `
CREATE TABLE schema_migrations (
    -- The highest schema step that is in this file. One row.
    version INTEGER NOT NULL,
    -- Always 0 from ocr: a step is in the file whole or not at all.
    dirty INTEGER NOT NULL
);
CREATE UNIQUE INDEX version_unique ON schema_migrations (version)`

// stepDriver runs schema steps for golang-migrate on one pinned connection.
//
// golang-migrate announces a step (SetVersion dirty), runs its body and
// clears the mark, each by itself; a process killed in between leaves a file
// that refuses every later start. Here the announcement stays in memory, and
// Run writes body and ledger in one transaction.
type stepDriver struct {
	ctx  context.Context
	conn *sql.Conn
	// path is the database file, for errors.
	path string
	// begin opens a transaction that holds the write lock.
	begin func(ctx context.Context, conn *sql.Conn) error
	// whole says that the caller holds one transaction around all steps of
	// an empty database: there are no rows to look after.
	whole bool
	// during adds what the program does in the transaction of one step.
	during map[int]around
	// started, if set, is told each step before it runs.
	started func(step int)
	// empty says that only the schema is there, and rows count for nothing.
	empty bool
	// history, if set, tells what each version has: what is not in it was added
	// by others.
	history func(ctx context.Context) (history, error)
	// wrote, if set, is told each row that a step writes.
	wrote func(rowWrite)
	// counted are the rows at the end of the last step, as long as the file has
	// the data version at.
	counted map[string]int64
	at      int64
	// aside is what was set aside and made again.
	aside []keptAt
	// ran are the steps that this driver has executed, none that it found
	// done by another process.
	ran []int
	// base is the version in the file when the next step was chosen.
	base int
	// pending is the announced version.
	pending int
}

var _ database.Driver = (*stepDriver)(nil)

// Open is no way to get this driver.
func (d *stepDriver) Open(string) (database.Driver, error) {
	return nil, errors.New("the schema driver works on a connection that is open already")
}

// Close leaves the connection to its owner.
func (d *stepDriver) Close() error { return nil }

// Lock does nothing: the caller holds the lock file, and every step checks
// the version again inside its transaction.
func (d *stepDriver) Lock() error { return nil }

// Unlock does nothing.
func (d *stepDriver) Unlock() error { return nil }

// Drop is refused: this program never drops a database.
func (d *stepDriver) Drop() error {
	return errors.New("dropping the database is not possible")
}

// SetVersion keeps the announcement of a step in memory.
func (d *stepDriver) SetVersion(version int, dirty bool) error {
	switch {
	case dirty:
		d.pending = version
		return nil
	case d.pending == written:
		d.pending = database.NilVersion
		return nil
	}
	return fmt.Errorf("schema step %d has no body", version)
}

// Version reads the version in the file.
func (d *stepDriver) Version() (version int, dirty bool, err error) {
	d.base, dirty, err = d.read()
	return d.base, dirty, err
}

// Run executes the announced step in one transaction.
func (d *stepDriver) Run(migration io.Reader) error {
	body, err := io.ReadAll(migration)
	if err != nil {
		return err
	}
	step := d.pending
	run := func() error { return nameObstacles(d.ctx, d.conn, d.path, d.step(step, string(body))) }
	if err := d.transaction(run); err != nil {
		if KindOf(err) == KindInTheWay {
			return err
		}
		return fmt.Errorf("schema step %d: %w", step, err)
	}
	d.base, d.pending = step, written
	return nil
}

func (d *stepDriver) step(step int, body string) error {
	current, dirty, err := d.read()
	switch {
	case err != nil:
		return err
	case dirty:
		return fmt.Errorf("another tool left step %d marked as unfinished", current)
	case current >= step && current != d.base:
		return nil
	case current != d.base:
		return fmt.Errorf("the version moved from %d to %d meanwhile", d.base, current)
	}
	if d.started != nil {
		d.started(step)
	}
	e, err := effectsOf(body)
	if err != nil {
		return err
	}
	if d.whole {
		if err := d.body(func() error { return d.exec(body) }); err != nil {
			return err
		}
		return d.finish(step, around{})
	}
	err = d.keepingRows(step, e, func() error {
		also := d.during[step]
		if also.before != nil {
			if err := also.before(d.ctx, d.conn); err != nil {
				return err
			}
		}
		if err := join(d.free(step, e), d.referenced(step, e)); err != nil {
			return err
		}
		aside, err := d.setAside(step, e)
		if err != nil {
			return err
		}
		if err := d.body(func() error { return d.migration(step, body, e, aside) }); err != nil {
			return err
		}
		if err := d.putBack(step, aside); err != nil {
			return err
		}
		d.aside = append(d.aside, keptAt{step, aside})
		return d.finish(step, also)
	})
	return err
}

// keptAt is what was set aside for one step and made again.
type keptAt struct {
	step  int
	aside setAside
}

// finish does what belongs to the end of a step.
func (d *stepDriver) finish(step int, also around) error {
	if also.after != nil {
		if err := also.after(d.ctx, d.conn); err != nil {
			return err
		}
	}
	if err := d.record(step); err != nil {
		return err
	}
	d.ran = append(d.ran, step)
	return nil
}

// around is what the program adds to a step, in its transaction.
type around struct {
	before, after func(ctx context.Context, conn *sql.Conn) error
}

// body runs the SQL of a step under a savepoint. A step that ends the
// transaction by itself takes the savepoint along, and the release fails.
func (d *stepDriver) body(run func() error) error {
	if err := d.exec("SAVEPOINT body"); err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	if err := d.exec("RELEASE body"); err != nil {
		return fmt.Errorf("the step ended its own transaction: %w", err)
	}
	return nil
}

// record writes the ledger of our own steps. A shared step has written its
// row in the shared ledger itself.
func (d *stepDriver) record(step int) error {
	if step <= SharedLatest {
		version, _, err := d.read()
		if err == nil && version != step {
			err = notRecorded(fmt.Sprintf("schema version %d", step), fmt.Sprintf("schema_version is at %d", version))
		}
		return err
	}
	var tables int
	err := d.conn.QueryRowContext(d.ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'").Scan(&tables)
	if err != nil {
		return err
	}
	if tables == 0 {
		if err := d.exec(ledgerSQL); err != nil {
			return err
		}
	}
	var before int64
	if err := d.conn.QueryRowContext(d.ctx, "SELECT count(*) FROM schema_migrations").Scan(&before); err != nil {
		return err
	}
	if err := d.changes(step, before, "DELETE FROM schema_migrations"); err != nil {
		return err
	}
	return d.changes(step, 1, "INSERT INTO schema_migrations (version, dirty) VALUES (?, 0)", step)
}

// read returns the version in the file, database.NilVersion where there is
// none.
func (d *stepDriver) read() (version int, dirty bool, err error) {
	now, dirty, err := recordedStanding(d.ctx, d.conn)
	switch {
	case err != nil:
		return 0, false, err
	case dirty:
		return now.migrations, true, nil
	case now.absent():
		return database.NilVersion, false, nil
	}
	return now.version(), false, nil
}

// transaction runs fn with foreign keys off: inside a transaction the
// setting cannot be changed, and with it on, rebuilding a parent table
// deletes the rows of its children.
func (d *stepDriver) transaction(fn func() error) (err error) {
	if d.whole {
		return fn()
	}
	if err := d.exec("PRAGMA foreign_keys = OFF"); err != nil {
		return err
	}
	defer func() { err = join(err, foreignKeysOn(d.ctx, d.conn)) }()
	return inTransaction(d.ctx, d.conn, d.begin, fn)
}

func (d *stepDriver) exec(statement string) error {
	_, err := d.conn.ExecContext(d.ctx, statement)
	return err
}

// changes runs a statement on the ledger, which must change want rows.
func (d *stepDriver) changes(step int, want int64, statement string, args ...any) error {
	done, err := d.conn.ExecContext(d.ctx, statement, args...)
	if err != nil {
		return err
	}
	return ExpectRows(want, fmt.Sprintf("schema version %d", step))(done.RowsAffected())
}

func foreignKeysOn(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = ON")
	return err
}
