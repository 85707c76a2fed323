package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
)

// inMemory runs the steps on an empty database in memory and calls after
// behind each of them.
func inMemory(ctx context.Context, steps fs.FS, after func(step int, conn *sql.Conn) error) (err error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = join(err, conn.Close()) }()
	names, err := fs.Glob(steps, "schema/*.up.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		body, err := fs.ReadFile(steps, name)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, string(body)); err != nil {
			return fmt.Errorf("schema step %s: %w", name, err)
		}
		if err := after(stepNumber(name), conn); err != nil {
			return err
		}
	}
	return nil
}
