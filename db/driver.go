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
	also := d.during[step]
	if also.before != nil {
		if err := also.before(d.ctx, d.conn); err != nil {
			return err
		}
	}
	if err := d.keepingRows(body); err != nil {
		return err
	}
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

// keepingRows runs the body and refuses its result if rows went that it does
// not say to delete, or if rows refer to something that is gone. Both happen
// without any error when a step rebuilds a table carelessly. Counting takes
// longer than most steps: those that take no table and no row away are spared.
func (d *stepDriver) keepingRows(body string) error {
	if d.whole {
		return d.body(body)
	}
	deletes, drops, err := deletions(body)
	if err != nil {
		return err
	}
	if !drops && len(deletes) == 0 {
		return d.body(body)
	}
	before, err := d.tally()
	if err != nil {
		return err
	}
	if err := d.body(body); err != nil {
		return err
	}
	after, err := d.tally()
	if err != nil {
		return err
	}
	if after.orphans > before.orphans {
		return fmt.Errorf("%d rows would lose what they refer to", after.orphans-before.orphans)
	}
	for table, rows := range before.rows {
		left, there := after.rows[table]
		if there && left < rows && !deletes[lower(table)] {
			return fmt.Errorf("%d of %d rows of %s would be lost", rows-left, rows, table)
		}
	}
	return nil
}

// body runs the SQL under a savepoint. A body that ends the transaction by
// itself takes the savepoint along, and the release fails.
func (d *stepDriver) body(body string) error {
	if err := d.exec("SAVEPOINT body"); err != nil {
		return err
	}
	if err := d.exec(body); err != nil {
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

// tally counts all rows, and those whose foreign key points nowhere.
type tally struct {
	rows    map[string]int64
	orphans int
}

func (d *stepDriver) tally() (t tally, err error) {
	err = d.conn.QueryRowContext(d.ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&t.orphans)
	if err != nil {
		return t, err
	}
	t.rows, err = rowCounts(d.ctx, d.conn)
	return t, err
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
