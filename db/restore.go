package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// restore makes the indexes, triggers and views again that belong to the
// version of the file and are gone, because another program rebuilt a table
// or somebody dropped them. It returns what it made. It only adds: an object
// of the right name stays, whatever it says.
func (o opener) restore(ctx context.Context, conn *sql.Conn, h history) (made []string, err error) {
	var lost []part
	err = inTransaction(ctx, conn, beginReading, func() (err error) {
		lost, _, err = o.lost(ctx, conn, h)
		return err
	})
	if err != nil || len(lost) == 0 {
		return nil, err
	}
	begin := func(ctx context.Context, conn *sql.Conn) error { return o.waits.begin(ctx, o.path, conn) }
	err = inTransaction(ctx, conn, begin, func() error {
		lost, version, err := o.lost(ctx, conn, h)
		if err != nil {
			return err
		}
		for _, p := range lost {
			if _, err := conn.ExecContext(ctx, h[version][p].text); err != nil {
				return fmt.Errorf("restoring the %s: %w", p, err)
			}
			made = append(made, p.String())
		}
		return nil
	})
	return made, err
}

// lost lists the indexes, triggers and views that the file should have and
// has not, in the order in which they can be made.
func (o opener) lost(ctx context.Context, conn *sql.Conn, h history) (lost []part, version int, err error) {
	now, err := inspect(ctx, conn, o.path, o.steps)
	if err != nil || now.newer() {
		return nil, 0, err
	}
	found, err := readShape(ctx, conn)
	if err != nil {
		return nil, 0, err
	}
	for p := range h[now.version()] {
		if _, there := found[p]; !there && p.kind != "table" && p.kind != "column" {
			lost = append(lost, p)
		}
	}
	slices.SortFunc(lost, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	return lost, now.version(), nil
}
