package db

import (
	"context"
	"database/sql"
	"strings"
)

// collect runs a query and makes one T of each row; fields says where its
// columns go.
func collect[T any](ctx context.Context, conn *sql.Conn, fields func(*T) []any, query string, args ...any) (list []T, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, rows.Close()) }()
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(&row)...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, rows.Err()
}

// names reads one column of texts.
func names(ctx context.Context, conn *sql.Conn, query string, args ...any) ([]string, error) {
	return collect(ctx, conn, func(name *string) []any { return []any{name} }, query, args...)
}

// tableNames lists the tables, those of the engine itself apart.
func tableNames(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return names(ctx, conn, `
SELECT name
FROM sqlite_schema
WHERE type = 'table'
    AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY name`)
}

// rowCounts counts the rows of every table, virtual ones apart: their rows
// stand in others, and the program that knows how to read them may not be
// here.
func rowCounts(ctx context.Context, conn *sql.Conn) (map[string]int64, error) {
	tables, err := names(ctx, conn, `
SELECT name
FROM sqlite_schema
WHERE type = 'table'
    AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, table := range tables {
		var n int64
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+quoteName(table)).Scan(&n); err != nil {
			return nil, err
		}
		counts[table] = n
	}
	return counts, nil
}

// quoteName writes the name of an object so that it is read as one.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
