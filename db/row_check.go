package db

import (
	"fmt"
	"slices"
	"strings"
)

// keepingRows runs a step and refuses its result unless every table has the
// rows that it had, and those that the statements of the step itself wrote or
// took away. A careless rebuild loses rows without any error, and a trigger of
// somebody else may do so in a table that the step does not name. Tables of
// others may grow: a trigger may note down what happened. Rows that refer to
// something that is gone are counted where a step takes rows away.
func (d *stepDriver) keepingRows(step int, e effects, run func() error) error {
	before, err := d.count()
	if err != nil {
		return err
	}
	takes := len(e.drops)+len(e.deletes) > 0
	orphaned := 0
	if takes {
		if orphaned, err = d.orphans(); err != nil {
			return err
		}
	}
	net, written := map[string]int64{}, map[string]bool{}
	forget, err := watchRows(d.conn, func(w rowWrite) {
		if d.wrote != nil {
			d.wrote(w)
		}
		table := lower(w.table)
		written[table] = true
		switch {
		case !w.direct:
		case w.op == rowInserted:
			net[table]++
		case w.op == rowDeleted:
			net[table]--
		}
	})
	if err != nil {
		return err
	}
	if err := join(run(), forget()); err != nil {
		return err
	}
	if takes {
		now, err := d.orphans()
		if err != nil {
			return err
		}
		if now > orphaned {
			return fmt.Errorf("%d rows would lose what they refer to", now-orphaned)
		}
	}
	d.counted = nil
	after, err := d.count()
	if err != nil {
		return err
	}
	known, err := d.known(step)
	if err != nil {
		return err
	}
	var faults []string
	for table, rows := range before {
		name := lower(table)
		left, there := after[table]
		_, ours := known[part{"table", name}]
		ours = ours || known == nil || name == "schema_migrations"
		want := rows + net[name]
		switch {
		case !there && e.drops[name]:
		case !there:
			faults = append(faults, fmt.Sprintf("the table %s would be lost", table))
		case left < want:
			faults = append(faults, fmt.Sprintf("%d of %d rows of %s would be lost", want-left, want, table))
		case left > want && ours:
			faults = append(faults, fmt.Sprintf("%s would have %d rows instead of %d", table, left, want))
		}
	}
	if len(faults) == 0 || d.empty {
		return nil
	}
	slices.Sort(faults)
	return d.unexplained(step, strings.Join(faults, "; "), written, known)
}

// unexplained names the triggers of others that may have changed rows.
func (d *stepDriver) unexplained(step int, faults string, written map[string]bool, known shape) error {
	added, err := addedObjects(d.ctx, d.conn, known)
	if err != nil {
		return err
	}
	var suspects, drops []string
	for _, a := range added {
		if a.kind == "trigger" && known != nil && written[lower(a.table)] {
			suspects = append(suspects, fmt.Sprintf("%s on %s", a.name, a.table))
			drops = append(drops, "DROP TRIGGER "+quoteName(a.name)+";")
		}
	}
	if len(suspects) == 0 {
		return fmt.Errorf("%s", faults)
	}
	return d.inTheWay(step, fmt.Sprintf("%s; nothing but a trigger of others can do so: %s", faults, strings.Join(suspects, ", ")),
		"note its definition, and take it away with "+strings.Join(drops, " "))
}

// known is what the schema has after a step; nil where that cannot be told.
func (d *stepDriver) known(step int) (shape, error) {
	if d.history == nil {
		return nil, nil
	}
	h, err := d.history(d.ctx)
	if err != nil || step >= len(h) {
		return nil, err
	}
	return h[step], nil
}

// count counts the rows of every table. What it counted last still holds
// while no other connection has written.
func (d *stepDriver) count() (map[string]int64, error) {
	var at int64
	if err := d.conn.QueryRowContext(d.ctx, "PRAGMA data_version").Scan(&at); err != nil {
		return nil, err
	}
	if d.counted != nil && d.at == at {
		return d.counted, nil
	}
	rows, err := rowCounts(d.ctx, d.conn)
	d.counted, d.at = rows, at
	return rows, err
}

// orphans counts the rows whose foreign key points nowhere.
func (d *stepDriver) orphans() (n int, err error) {
	err = d.conn.QueryRowContext(d.ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&n)
	return n, err
}
