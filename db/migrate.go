package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

// ensure brings the database to the latest version and opens it. One process
// at a time does that: the others wait for the lock file and find the work
// done.
func (o opener) ensure(ctx context.Context) (*Store, Upgraded, error) {
	if o.opt.Create {
		if err := RightsOf(o.path).MakeDirs(filepath.Dir(o.path)); err != nil {
			return nil, Upgraded{}, writeFileError(o.path, err)
		}
	}
	o.trace = traceOf(o.path)
	start := time.Now()
	unlock, err := o.lock(ctx)
	if err != nil {
		return nil, Upgraded{}, err
	}
	o.waits.total -= time.Since(start)
	store, done, err := o.ensureLocked(ctx)
	return store, done, join(err, unlock())
}

// errFilled says that another program has filled the file that was about to
// be created.
var errFilled = errors.New("another program has created the database meanwhile")

func (o opener) ensureLocked(ctx context.Context) (*Store, Upgraded, error) {
	for {
		now, err := o.look(ctx)
		if err != nil {
			return nil, Upgraded{}, err
		}
		mode := "rw"
		if now.absent() {
			mode = "rwc"
			if err := o.giveAway(); err != nil {
				return nil, Upgraded{}, writeFileError(o.path, err)
			}
		}
		store, err := o.connect(mode)
		if err != nil {
			return nil, Upgraded{}, err
		}
		done := Upgraded{From: now.version(), To: now.version()}
		err = store.on(ctx, func(conn *sql.Conn) error {
			if now.dirty {
				if err := o.clearMark(ctx, conn); err != nil {
					return err
				}
			}
			if now.old() {
				done, err = o.upgrade(ctx, conn, now)
				return err
			}
			if err := o.setWAL(ctx, conn); err != nil || now.current() {
				return err
			}
			return o.create(ctx, conn)
		})
		if err == nil {
			if now.absent() && o.trace != "" && o.opt.Notice != nil {
				o.opt.Notice(fmt.Sprintf("note: a new database was made at %s, although %s of an earlier one is there: 'ocr doctor' tells more", o.path, o.trace))
			}
			return store, done, nil
		}
		err = join(err, store.Close())
		if !errors.Is(err, errFilled) {
			return nil, done, err
		}
	}
}

// giveAway makes the empty file for a new database in the folder of another
// user, when root makes it: the database, and all that is made beside it, then
// belongs to that user.
func (o opener) giveAway() error {
	rights := RightsOf(o.path)
	if rights.mode != 0 || !rights.owner.rootFor() {
		return nil
	}
	if err := rights.make(o.path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// create fills an empty database with all steps in one transaction: whoever
// looks, and whoever comes after a sudden death, finds either no table or
// all.
func (o opener) create(ctx context.Context, conn *sql.Conn) (err error) {
	d := o.driver(ctx, conn)
	d.whole = true
	if err := d.exec("PRAGMA foreign_keys = OFF"); err != nil {
		return err
	}
	defer func() { err = join(err, foreignKeysOn(ctx, conn)) }()
	return inTransaction(ctx, conn, d.begin, func() error {
		_, err := inspect(ctx, conn, o.path, o.steps)
		switch {
		case err == nil:
			return errFilled
		case KindOf(err) != KindNoDatabase:
			return err
		}
		// A process that died while creating it may have left its ledger.
		if err := d.exec("DROP TABLE IF EXISTS schema_version"); err != nil {
			return err
		}
		return o.up(d)
	})
}

func (o opener) driver(ctx context.Context, conn *sql.Conn) *stepDriver {
	begin := func(ctx context.Context, conn *sql.Conn) error {
		return o.waits.begin(ctx, o.path, conn)
	}
	once := sync.OnceValues(func() (history, error) { return o.history(ctx) })
	history := func(context.Context) (history, error) { return once() }
	return &stepDriver{ctx: ctx, conn: conn, begin: begin, path: o.path, history: history, wrote: o.wrote, empty: o.empty}
}

func (o opener) up(d *stepDriver) error {
	source, err := iofs.New(o.steps, "schema")
	if err != nil {
		return err
	}
	m, err := migrate.NewWithInstance("iofs", source, "sqlite", d)
	if err != nil {
		return join(err, source.Close())
	}
	err = m.Up()
	if errors.Is(err, migrate.ErrNoChange) {
		err = nil
	}
	sourceErr, driverErr := m.Close()
	if err := join(err, join(sourceErr, driverErr)); err != nil {
		return o.stepError(err)
	}
	version, _, err := d.Version()
	if err == nil && version < highest(o.steps) {
		err = fmt.Errorf("the schema stopped at version %d of %d", version, highest(o.steps))
	}
	return err
}

// stepError keeps the kinds that the disk and other processes cause; any
// other failure of a step is a fault of the step.
func (o opener) stepError(err error) error {
	err = engineError(o.path, err)
	switch KindOf(err) {
	case KindBusy, KindNoSpace, KindIO, KindCorrupt, KindReadOnly, KindUnreadable, KindDirty, KindNotRecorded, KindInTheWay:
		return err
	}
	if isContext(err) {
		return err
	}
	return &Error{
		Kind: KindInternal, Path: o.path, Err: err,
		Message: fmt.Sprintf("the schema of %s could not be brought to version %d", o.path, highest(o.steps)),
		Hint:    "the steps before the failed one are in place and the file is usable by the program that wrote it; report this",
	}
}

// setWAL switches the journal mode, which the file then keeps. The busy
// timeout does not cover the switch, so it is tried again like BEGIN.
func (o opener) setWAL(ctx context.Context, conn *sql.Conn) error {
	return o.waits.retry(ctx, o.path, func(ctx context.Context) error {
		var mode string
		if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" {
			return &Error{
				Kind: KindIO, Path: o.path,
				Message: fmt.Sprintf("%s cannot use write-ahead logging here (journal mode stays %q)", o.path, mode),
				Hint:    "put the project on a local disk: network file systems often lack what it needs",
			}
		}
		return nil
	})
}

// lock takes the lock file, which is never deleted: a process could
// otherwise wait for a file that nobody else sees any more.
func (o opener) lock(ctx context.Context) (unlock func() error, err error) {
	path := o.path + ".lock"
	if err := o.makeLock(path); err != nil {
		return nil, lockError(path, err)
	}
	file := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
	bounded, cancel := context.WithTimeout(ctx, o.waits.total)
	defer cancel()
	ended := o.waits.show(o.path, lockFileHolders)
	_, err = file.TryLockContext(bounded, lockPoll)
	ended()
	switch {
	case err == nil:
		return file.Close, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, busyWith(o.path, lockFileHolders(o.path), err)
	}
	return nil, lockError(path, err)
}

// makeLock makes a missing lock file, with the rights of the database. What
// else stands there is refused: a pipe would keep the program waiting before
// any time limit counts, and a link would have it make a file elsewhere.
func (o opener) makeLock(path string) error {
	_, err := lstat(path)
	if !isAbsent(err) {
		return err
	}
	if err := RightsOf(o.path).make(path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	_, err = lstat(path)
	return err
}

// lockError names the lock file: the database beside it may be in order.
func lockError(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return writeFileError(path, err)
	}
	return &Error{
		Kind: KindReadOnly, Path: path, Err: err,
		Message: fmt.Sprintf("the lock file %s cannot be opened", path),
		Hint:    "check who owns it and its folder, and who may read them: ls -l",
	}
}

// lockPoll is the time between two looks at the lock file.
const lockPoll = 10 * time.Millisecond
