package db

import (
	"context"
	"database/sql"
)

// Object is one table, index, trigger or view of the schema.
type Object struct {
	// Type is "table", "index", "trigger" or "view".
	Type string
	Name string
	// Table is the table that an index or trigger belongs to; for others it
	// is the name.
	Table string
	// SQL is the statement that made the object, comments inside it included.
	SQL string
}

// WholeSchema returns the schema as it is after all steps, in the order in
// which a reader wants it: each table with its indexes and triggers, then the
// views.
func WholeSchema(ctx context.Context) (objects []Object, err error) {
	fields := func(o *Object) []any { return []any{&o.Type, &o.Name, &o.Table, &o.SQL} }
	err = inMemory(ctx, embedded, func(step int, conn *sql.Conn) error {
		if step < Latest() {
			return nil
		}
		objects, err = collect(ctx, conn, fields, `
SELECT o.type, o.name, o.tbl_name, o.sql
FROM sqlite_schema AS o
LEFT JOIN sqlite_schema AS t ON t.type = 'table' AND t.name = o.tbl_name
WHERE o.sql IS NOT NULL
    AND o.name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY o.type = 'view', IFNULL(t.rowid, o.rowid), o.type <> 'table', o.type, o.rowid`)
		return err
	})
	return objects, err
}
