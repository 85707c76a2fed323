package db

import (
	"context"
	"database/sql"
	"fmt"
)

// Recreated is what Recreate did.
type Recreated struct {
	// Made names the objects that were made again.
	Made []string
	// Failed names those that could not be, each with the reason. They are as
	// they were.
	Failed []string
}

// Recreate makes every index, trigger or view again, whichever kind names,
// that is missing or says something else than it should. Tables and rows are
// not touched, and triggers of others on a view stay with it. A file of an
// earlier version is upgraded first.
func Recreate(ctx context.Context, path, kind string, opt Options) (done Recreated, err error) {
	o := newOpener(path, opt)
	store, err := o.open(ctx)
	if err != nil {
		return done, err
	}
	err = store.on(ctx, func(conn *sql.Conn) error {
		return inTransaction(ctx, conn, store.begin, func() (err error) {
			done, err = recreate(ctx, conn, kind, Latest())
			return err
		})
	})
	if err != nil {
		done = Recreated{}
	}
	return done, join(err, store.Close())
}

// recreate does it for one kind, as a version has it.
func recreate(ctx context.Context, conn *sql.Conn, kind string, version int) (done Recreated, err error) {
	expected, err := expectedParts(ctx, version)
	if err != nil {
		return done, err
	}
	list, _, err := compareSchema(ctx, conn, version)
	if err != nil {
		return done, err
	}
	tx := &Tx{conn: conn}
	for _, d := range list {
		if d.Kind != kind || !d.recreatable() {
			continue
		}
		sql := expected[part{d.Kind, lower(d.Name)}].text
		err := tx.Savepoint(ctx, func() error { return replaceObject(ctx, conn, d, sql) })
		switch {
		case ctx.Err() != nil:
			return done, ctx.Err()
		case err != nil:
			done.Failed = append(done.Failed, fmt.Sprintf("%s %s (%v)", d.Kind, d.Name, err))
		default:
			done.Made = append(done.Made, d.Kind+" "+d.Name)
		}
	}
	return done, nil
}

// recreateAll does it for every kind, each after those that it may name.
func recreateAll(ctx context.Context, conn *sql.Conn, version int) (done Recreated, err error) {
	for _, kind := range []string{"index", "view", "trigger"} {
		some, err := recreate(ctx, conn, kind, version)
		if err != nil {
			return done, err
		}
		done.Made = append(done.Made, some.Made...)
		done.Failed = append(done.Failed, some.Failed...)
	}
	return done, nil
}

// replaceObject makes one object, in the place of that of its name. A view
// takes its triggers along when it goes: they are made again.
func replaceObject(ctx context.Context, conn *sql.Conn, d Difference, sql string) error {
	statements := []string{sql}
	if d.Fault == FaultChanged {
		triggers, err := names(ctx, conn, "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE AND ?2 = 'view' ORDER BY rowid", d.Name, d.Kind)
		if err != nil {
			return err
		}
		statements = append(append([]string{fmt.Sprintf("DROP %s %s", d.Kind, quoteName(d.Name))}, sql), triggers...)
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
