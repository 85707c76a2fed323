package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// holdsTheSame says that an older snapshot is whole, of the given version,
// and holds the same schema and rows as a copy made now. One that is empty,
// damaged or cannot be read does not.
func (o opener) holdsTheSame(ctx context.Context, snapshot, copied string, version int) (bool, error) {
	inside, err := o.checkCopy(ctx, snapshot)
	if err != nil {
		return false, ctx.Err()
	}
	if inside != version {
		return false, nil
	}
	same := false
	err = connectAndRun(ctx, o.path, snapshot, "mode=ro&immutable=1", func(ctx context.Context, a *sql.Conn) error {
		return connectAndRun(ctx, o.path, copied, "mode=ro&immutable=1", func(ctx context.Context, b *sql.Conn) error {
			same, err = sameDatabase(ctx, a, b)
			return err
		})
	})
	if err != nil {
		return false, ctx.Err()
	}
	return same, nil
}

// sameDatabase compares what two databases define, and then every table row
// by row in the order of its key.
func sameDatabase(ctx context.Context, a, b *sql.Conn) (bool, error) {
	const objects = `
SELECT type, name, tbl_name, sql
FROM sqlite_schema
WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY type, name`
	if same, err := sameRows(ctx, a, b, objects); err != nil || !same {
		return false, err
	}
	tables, err := tableNames(ctx, a)
	if err != nil {
		return false, err
	}
	for _, table := range tables {
		same, err := sameRows(ctx, a, b, fmt.Sprintf("SELECT * FROM %s NOT INDEXED", quoteName(table)))
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameRows runs one query on both and compares the rows as they come.
func sameRows(ctx context.Context, a, b *sql.Conn, query string) (same bool, err error) {
	left, err := a.QueryContext(ctx, query)
	if err != nil {
		return false, err
	}
	defer func() { err = join(err, left.Close()) }()
	right, err := b.QueryContext(ctx, query)
	if err != nil {
		return false, err
	}
	defer func() { err = join(err, right.Close()) }()
	for {
		more := left.Next()
		if more != right.Next() {
			return false, errors.Join(left.Err(), right.Err())
		}
		if !more {
			return true, errors.Join(left.Err(), right.Err())
		}
		x, err := rowValues(left)
		if err != nil {
			return false, err
		}
		y, err := rowValues(right)
		if err != nil || !equalValues(x, y) {
			return false, err
		}
	}
}

func rowValues(rows *sql.Rows) ([]any, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	return values, rows.Scan(targets...)
}

func equalValues(x, y []any) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		a, blob := x[i].([]byte)
		if b, both := y[i].([]byte); blob || both {
			if blob != both || !bytes.Equal(a, b) {
				return false
			}
		} else if x[i] != y[i] {
			return false
		}
	}
	return true
}
