package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	lib "modernc.org/sqlite/lib"

	"ocr/db/gen"
)

// Tx is one write transaction: it holds the write lock from its first moment,
// so that what it reads stays true until it ends.
type Tx struct {
	*gen.Queries
	conn *sql.Conn
}

// Write runs fn in one transaction and commits when fn returns nil. When fn
// fails or panics, when ctx ends, or when the commit fails, everything is
// rolled back. Waiting for other writers ends after at most 26 seconds with
// an *Error of KindBusy. fn runs at most once; it must not call Write.
// Engine errors come back as *Error, all others as fn returned them; fn holds
// every write statement to the rows that it must change, with ExpectRows or
// ExpectRow.
func (s *Store) Write(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return s.on(ctx, func(conn *sql.Conn) error {
		return inTransaction(ctx, conn, s.begin, func() error {
			err := fn(ctx, &Tx{Queries: gen.New(conn), conn: conn})
			return nameObstacles(ctx, conn, s.path, err)
		})
	})
}

func (s *Store) begin(ctx context.Context, conn *sql.Conn) error {
	if err := s.waits.begin(ctx, s.path, conn); err != nil {
		return err
	}
	if err := s.checkVersion(ctx, conn); err != nil {
		return join(err, rollback(ctx, conn))
	}
	return nil
}

// checkVersion refuses a database of another version than the one that was
// opened: while this process waited for the lock, a snapshot of another version
// took its place, or a later program upgraded it.
func (s *Store) checkVersion(ctx context.Context, conn *sql.Conn) error {
	var version int
	err := conn.QueryRowContext(ctx, "SELECT IFNULL(max(CAST(version AS INTEGER)), 0) FROM schema_migrations").Scan(&version)
	if err != nil && engineCode(err) != lib.SQLITE_ERROR {
		return err
	}
	if err == nil && version == s.version {
		return nil
	}
	return &Error{
		Kind: KindBusy, Path: s.path, Err: err,
		Message: fmt.Sprintf("the database %s was restored or upgraded by another process just now", s.path),
		Hint:    "nothing was written; run the same command again",
	}
}

// Savepoint runs fn so that its changes are undone alone when it fails; the
// transaction goes on. It returns the error of fn.
func (t *Tx) Savepoint(ctx context.Context, fn func() error) error {
	if _, err := t.conn.ExecContext(ctx, "SAVEPOINT part"); err != nil {
		return err
	}
	if err := fn(); err != nil {
		_, undo := t.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO part; RELEASE part")
		return join(err, undo)
	}
	_, err := t.conn.ExecContext(ctx, "RELEASE part")
	return err
}

// rollback ends the transaction also when ctx is over. SQLite ends it by
// itself after some failures (a full disk): its plain "no transaction is
// active" is then no fault. A connection that cannot roll back is dropped:
// closing it is the last way to end its transaction.
func rollback(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if err == nil || engineCode(err) == lib.SQLITE_ERROR {
		return nil
	}
	dropped := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(dropped, driver.ErrBadConn) {
		return err
	}
	return errors.Join(err, dropped)
}

// join keeps a lone error as it is, so that errors.Is and == still hold.
func join(err, other error) error {
	switch {
	case other == nil:
		return err
	case err == nil:
		return other
	}
	return errors.Join(err, other)
}

// waits bounds how long a writer stands in line.
type waits struct {
	// engine is the time SQLite itself waits for one lock.
	engine time.Duration
	// pause lies between two attempts.
	pause time.Duration
	// retries is how often BEGIN is tried again.
	retries int
	// total bounds everything together.
	total time.Duration
	// waiting, if set, is Options.Waiting.
	waiting func(line string)
}

var defaultWaits = waits{
	engine:  5 * time.Second,
	pause:   50 * time.Millisecond,
	retries: 5,
	total:   25500 * time.Millisecond,
}

// begin takes the write lock. A wait that ends at the same moment as the
// lock comes may leave a transaction open.
func (w waits) begin(ctx context.Context, path string, conn *sql.Conn) error {
	err := w.retry(ctx, path, func(ctx context.Context) error {
		_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
		return err
	})
	if err != nil {
		return join(err, rollback(ctx, conn))
	}
	return nil
}

// retry calls try until it is not refused because of a lock. It gives up
// with KindBusy; when ctx itself ends, with its error.
func (w waits) retry(ctx context.Context, path string, try func(ctx context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, w.total)
	defer cancel()
	defer w.show(path, Holders)()
	for left := w.retries; ; left-- {
		err := try(bounded)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case bounded.Err() != nil:
			return busyError(path, err)
		}
		err = engineError(path, err)
		if KindOf(err) != KindBusy || left == 0 {
			return err
		}
		// When the wait ends early, the next try says why.
		_ = pause(bounded, w.pause)
	}
}

// pause waits, unless ctx ends before; then the error is its own.
func pause(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// inTransaction runs fn between begin and COMMIT, and rolls back on any
// failure or panic.
func inTransaction(ctx context.Context, conn *sql.Conn, begin func(context.Context, *sql.Conn) error, fn func() error) (err error) {
	if err := begin(ctx, conn); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			err = join(err, rollback(ctx, conn))
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err != nil {
		return err
	}
	committed = true
	return nil
}
