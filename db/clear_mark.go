package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// ClearMark makes the views, triggers and indexes of a database that is marked
// as unfinished (KindDirty) again, as its version has them, and clears the
// mark, in one transaction. Tables and rows are not touched: where one of those
// is not as it should be, or a view or trigger cannot be made, the error is of
// KindDirty and nothing is changed. An index that the rows contradict does not
// keep the mark; Failed names it. A file without such faults is left alone.
func ClearMark(ctx context.Context, path string, opt Options) (done Recreated, err error) {
	o := newOpener(path, opt)
	unlock, err := o.lock(ctx)
	if err != nil {
		return done, err
	}
	defer func() { err = join(err, unlock()) }()
	err = o.onConnection(ctx, func(conn *sql.Conn) error {
		begin := func(ctx context.Context, conn *sql.Conn) error { return o.waits.begin(ctx, o.path, conn) }
		return inTransaction(ctx, conn, begin, func() (err error) {
			done, err = o.remake(ctx, conn)
			return err
		})
	})
	if err != nil {
		done = Recreated{}
	}
	return done, err
}

func (o opener) remake(ctx context.Context, conn *sql.Conn) (done Recreated, err error) {
	now, err := inspect(ctx, conn, o.path, o.steps)
	if !now.remakeable {
		return done, err
	}
	if done, err = recreateAll(ctx, conn, now.version()); err != nil {
		return done, err
	}
	var rest []string
	left, _, err := compareSchema(ctx, conn, now.version())
	for _, d := range left {
		if d.Fault != FaultExtra && d.Kind != "index" {
			rest = append(rest, d.String())
		}
	}
	if err != nil {
		return done, err
	}
	if len(rest) > 0 {
		return done, dirtyError(o.path, now.migrations, append(done.Failed, rest...))
	}
	return done, o.takeMark(ctx, conn, now)
}

// clearMark takes away the mark of an unfinished step that another tool left
// on a sound file, and says so. The look at the file and the change are one
// transaction.
func (o opener) clearMark(ctx context.Context, conn *sql.Conn) error {
	begin := func(ctx context.Context, conn *sql.Conn) error { return o.waits.begin(ctx, o.path, conn) }
	cleared, version := false, 0
	err := inTransaction(ctx, conn, begin, func() error {
		now, err := inspect(ctx, conn, o.path, o.steps)
		if err != nil || !now.dirty {
			return err
		}
		cleared, version = true, now.version()
		return o.takeMark(ctx, conn, now)
	})
	if err == nil && cleared && o.opt.Notice != nil {
		o.opt.Notice(fmt.Sprintf("note: %s was marked as unfinished by another tool (schema_migrations.dirty); the mark was cleared, because every object is as version %d has it", o.path, version))
	}
	return err
}

// takeMark takes the mark away from a file whose pages are sound.
func (o opener) takeMark(ctx context.Context, conn *sql.Conn, now standing) error {
	damage, err := quickCheck(ctx, conn, 1)
	if err != nil {
		return err
	}
	if len(damage) > 0 {
		return dirtyError(o.path, now.migrations, damage)
	}
	if _, err := conn.ExecContext(ctx, "UPDATE schema_migrations SET dirty = 0"); err != nil {
		return err
	}
	_, dirty, err := recordedStanding(ctx, conn)
	if err == nil && dirty {
		err = dirtyError(o.path, now.migrations, []string{"something keeps the mark from being cleared: " + strings.Join(ledgerTriggers(ctx, conn), ", ")})
	}
	return err
}

// ledgerTriggers names the triggers on schema_migrations.
func ledgerTriggers(ctx context.Context, conn *sql.Conn) []string {
	found, err := names(ctx, conn, "SELECT 'trigger ' || name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'schema_migrations'")
	if err != nil {
		return nil
	}
	return found
}
