package db

import (
	"context"
	"database/sql"
	"fmt"
)

// preflight runs the missing steps on an empty copy of the schema in memory:
// what others added and no step can be run beside is refused before anything
// is changed. Any other failure is left to the step itself.
func (o opener) preflight(ctx context.Context, conn *sql.Conn) (err error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = join(err, pool.Close()) }()
	empty, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = join(err, empty.Close()) }()
	if err := copySchema(ctx, conn, empty); err != nil {
		return err
	}
	h, err := o.history(ctx)
	if err != nil {
		return err
	}
	o.opt, o.started, o.wrote, o.empty = Options{}, nil, nil, true
	if _, err = o.restore(ctx, empty, h); err == nil {
		_, _, err = o.runSteps(ctx, empty)
	}
	if KindOf(err) == KindInTheWay {
		return err
	}
	return ctx.Err()
}

// copySchema makes the objects of one database in another, which is empty,
// and copies its ledgers. What cannot be made there, because it was broken or
// needs another program, is left out.
func copySchema(ctx context.Context, from, to *sql.Conn) error {
	statements, err := names(ctx, from, `
SELECT o.sql
FROM sqlite_schema AS o
WHERE o.sql IS NOT NULL
    AND o.name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND o.sql NOT LIKE 'CREATE VIRTUAL%'
ORDER BY o.type <> 'table', o.type = 'trigger', o.rowid`)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := to.ExecContext(ctx, statement); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	triggers, err := names(ctx, to, "SELECT o.sql FROM sqlite_schema AS o WHERE o.type = 'trigger' AND o.tbl_name IN ('schema_version', 'schema_migrations')")
	if err != nil {
		return err
	}
	if len(triggers) > 0 {
		// Copying the ledgers is no deed that a trigger is there for.
		dropped, err := names(ctx, to, "SELECT o.name FROM sqlite_schema AS o WHERE o.type = 'trigger' AND o.tbl_name IN ('schema_version', 'schema_migrations')")
		if err != nil {
			return err
		}
		for _, name := range dropped {
			if _, err := to.ExecContext(ctx, "DROP TRIGGER "+quoteName(name)); err != nil {
				return err
			}
		}
	}
	found, err := readOrigin(ctx, from)
	if err != nil {
		return err
	}
	for table, columns := range map[string]string{"schema_version": "version, description", "schema_migrations": "version, dirty"} {
		if !found.tables[table] {
			continue
		}
		type row struct{ a, b any }
		rows, err := collect(ctx, from, func(r *row) []any { return []any{&r.a, &r.b} }, "SELECT "+columns+" FROM "+table)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := to.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (?, ?)", table, columns), r.a, r.b); err != nil {
				return err
			}
		}
	}
	for _, statement := range triggers {
		if _, err := to.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
