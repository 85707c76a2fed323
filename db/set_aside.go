package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// keptColumns is the temporary table that holds the values of columns of
// others while their table is made anew.
const keptColumns = "ocr_kept_columns"

// addedObject is a view, trigger or index that no migration knows.
type addedObject struct {
	kind, name, table, sql string
	// works: the engine could resolve every name in it.
	works bool
}

func (a addedObject) String() string { return a.kind + " " + a.name }

// addedColumn is a column that no migration knows, in a table that a migration
// makes anew.
type addedColumn struct {
	table, name string
	// clause is its definition as it is written.
	clause string
	// stored is false for a value that the engine computes.
	stored, mandatory bool
}

// setAside is what others added to a schema and a migration must not meet: it
// is taken away before, and made again after it, in its transaction.
type setAside struct {
	objects []addedObject
	columns []addedColumn
	// sequence is the highest id ever given in each table that is made anew.
	sequence map[string]int64
}

// addedObjects lists the views, triggers and indexes that no migration up to the
// version knows; in the order in which they can be made.
func addedObjects(ctx context.Context, conn *sql.Conn, known shape) ([]addedObject, error) {
	fields := func(a *addedObject) []any { return []any{&a.kind, &a.name, &a.table, &a.sql} }
	list, err := collect(ctx, conn, fields, `
SELECT o.type, o.name, o.tbl_name, o.sql
FROM sqlite_schema AS o
WHERE o.type IN ('index', 'view', 'trigger')
    AND o.sql IS NOT NULL
    AND NOT (o.type = 'index' AND o.tbl_name = 'schema_migrations')
ORDER BY o.type = 'trigger', o.type = 'view', o.rowid`)
	return slices.DeleteFunc(list, func(a addedObject) bool {
		_, ours := known[part{a.kind, lower(a.name)}]
		return ours
	}), err
}

// setAside takes away what would be in the way of the migration, or would go
// with a table that it makes anew. It refuses what it could not put back.
func (d *stepDriver) setAside(step int, e effects) (s setAside, err error) {
	if !e.reshapes() && len(e.dropsViews) == 0 || d.history == nil {
		return s, nil
	}
	h, err := d.history(d.ctx)
	if err != nil || step > len(h) {
		return s, err
	}
	known := h[step-1]
	all, err := addedObjects(d.ctx, d.conn, known)
	if err != nil {
		return s, err
	}
	for _, a := range all {
		on := lower(a.table)
		if e.reshapes() && (a.kind != "index" || e.drops[on] || e.narrows[on]) || a.kind == "trigger" && e.dropsViews[on] {
			a.works = d.resolves(a)
			s.objects = append(s.objects, a)
		}
	}
	for table := range e.drops {
		if err := d.setColumnsAside(&s, step, table, e.rebuilds(table) != "", known); err != nil {
			return s, err
		}
	}
	// Views go last, because they take their triggers along.
	for _, a := range slices.Backward(s.objects) {
		if err := d.exec("DROP " + a.kind + " " + quoteName(a.name)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// setColumnsAside keeps the values of the columns that others added to a table
// which the migration drops. A table that is not made anew cannot keep them.
func (d *stepDriver) setColumnsAside(s *setAside, step int, table string, anew bool, known shape) error {
	var text string
	err := d.conn.QueryRowContext(d.ctx, "SELECT IFNULL(max(sql), '') FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?", table).Scan(&text)
	if err != nil || text == "" {
		return err
	}
	rules := map[string]bool{}
	for _, c := range tableClauses(known[part{"table", table}].text) {
		rules[strings.Join(texts(c.tokens), " ")] = c.column == ""
		for _, check := range c.checks() {
			rules[check] = true
		}
	}
	found := len(s.columns)
	for _, c := range tableClauses(text) {
		_, ours := known[part{"column", table + "." + lower(c.column)}]
		switch {
		case c.column == "" && anew && !rules[strings.Join(texts(c.tokens), " ")]:
			return d.inTheWay(step, "the table "+table+" has a rule of its own, "+c.text+", which cannot be kept",
				"make the table again without that rule")
		case ours && anew:
			for _, check := range c.checks() {
				if !rules[check] {
					return d.inTheWay(step, fmt.Sprintf("the column %s.%s has a CHECK of its own, %s, which cannot be kept", table, c.column, check),
						"make the table again without that CHECK")
				}
			}
		case c.column != "" && !ours:
			column := addedColumn{table: table, name: c.column, clause: c.text}
			err := d.conn.QueryRowContext(d.ctx, `SELECT hidden = 0, "notnull" AND dflt_value IS NULL AND hidden = 0 FROM pragma_table_xinfo(?) WHERE name = ?`,
				table, c.column).Scan(&column.stored, &column.mandatory)
			if err != nil {
				return err
			}
			if !anew || column.mandatory {
				return d.columnInTheWay(step, column)
			}
			s.columns = append(s.columns, column)
		}
	}
	if anew {
		if err := d.keepSequence(s, table); err != nil {
			return err
		}
	}
	return d.keepValues(s.columns[found:])
}

func (d *stepDriver) columnInTheWay(step int, c addedColumn) *Error {
	copied := "my_" + c.table + "_" + c.name
	return d.inTheWay(step, fmt.Sprintf("the column %s.%s, which others added, cannot be kept", c.table, c.name), fmt.Sprintf(
		"move it with CREATE TABLE %s AS SELECT id, %s FROM %s; ALTER TABLE %[3]s DROP COLUMN %[2]s;", quoteName(copied), quoteName(c.name), c.table))
}

func (d *stepDriver) keepSequence(s *setAside, table string) error {
	var highest sql.NullInt64
	err := d.conn.QueryRowContext(d.ctx, "SELECT max(seq) FROM sqlite_sequence WHERE lower(name) = ?", table).Scan(&highest)
	if err != nil || !highest.Valid {
		return err
	}
	if s.sequence == nil {
		s.sequence = map[string]int64{}
	}
	s.sequence[table] = highest.Int64
	return nil
}

// keepValues copies the values of columns of one table.
func (d *stepDriver) keepValues(columns []addedColumn) error {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c addedColumn) bool { return !c.stored })
	if len(columns) == 0 {
		return nil
	}
	var places, sources []string
	for i, c := range columns {
		places, sources = append(places, fmt.Sprintf("v%d", i)), append(sources, quoteName(c.name))
	}
	list := strings.Join(places, ", ")
	kept := keptColumns + "_" + columns[0].table
	if err := d.exec(fmt.Sprintf("CREATE TEMP TABLE %s (row_id INTEGER PRIMARY KEY, %s)", quoteName(kept), list)); err != nil {
		return err
	}
	return d.exec(fmt.Sprintf("INSERT INTO temp.%s (row_id, %s) SELECT rowid, %s FROM %s",
		quoteName(kept), list, strings.Join(sources, ", "), quoteName(columns[0].table)))
}

// migration runs the statements of a migration. A table that it makes anew
// gets the columns of others while it is empty.
func (d *stepDriver) migration(step int, body string, e effects, s setAside) error {
	from := 0
	for _, c := range s.columns {
		end := e.ends[e.rebuilds(c.table)]
		if end > from {
			if err := d.exec(body[from:end]); err != nil {
				return err
			}
			from = end
		}
		if err := d.exec("ALTER TABLE " + quoteName(e.rebuilds(c.table)) + " ADD COLUMN " + c.clause); err != nil {
			return because(d.columnInTheWay(step, c), err)
		}
	}
	return d.exec(body[from:])
}

// putBack makes again what was set aside. What worked before and would not
// work any more is refused.
func (d *stepDriver) putBack(step int, s setAside) error {
	byTable := map[string][]addedColumn{}
	for _, c := range s.columns {
		if c.stored {
			byTable[c.table] = append(byTable[c.table], c)
		}
	}
	for table, columns := range byTable {
		kept := quoteName(keptColumns + "_" + table)
		var sets []string
		for i, c := range columns {
			sets = append(sets, fmt.Sprintf("%s = (SELECT k.v%d FROM temp.%s AS k WHERE k.row_id = %s.rowid)", quoteName(c.name), i, kept, quoteName(table)))
		}
		if err := d.exec(fmt.Sprintf("UPDATE %s SET %s", quoteName(table), strings.Join(sets, ", "))); err != nil {
			return err
		}
		if err := d.exec("DROP TABLE temp." + kept); err != nil {
			return err
		}
	}
	for table, highest := range s.sequence {
		_, err := d.conn.ExecContext(d.ctx, `
INSERT INTO sqlite_sequence (name, seq)
SELECT o.name, 0
FROM sqlite_schema AS o
WHERE o.type = 'table'
    AND lower(o.name) = ?1
    AND NOT EXISTS (SELECT 1 FROM sqlite_sequence AS s WHERE s.name = o.name)`, table)
		if err != nil {
			return err
		}
		_, err = d.conn.ExecContext(d.ctx, "UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE lower(name) = ?2", highest, table)
		if err != nil {
			return err
		}
	}
	for _, a := range s.objects {
		err := d.exec(a.sql)
		if err == nil && a.kind == "trigger" && a.works && !d.resolves(a) {
			err = d.resolving(a)
		}
		if err != nil {
			return because(d.inTheWay(step, fmt.Sprintf("the %s, which others added, would not work any more", a), a.movedAway()), err)
		}
	}
	for _, a := range s.objects {
		if a.kind == "view" && a.works {
			if err := d.resolving(a); err != nil {
				return because(d.inTheWay(step, fmt.Sprintf("the %s, which others added, would not work any more", a), a.movedAway()), err)
			}
		}
	}
	return nil
}

func (d *stepDriver) resolves(a addedObject) bool { return d.resolving(a) == nil }

// resolving has the engine look up every name that the object uses.
func (d *stepDriver) resolving(a addedObject) error {
	table := quoteName(a.table)
	switch a.kind {
	case "view":
		return d.exec("EXPLAIN SELECT 1 FROM " + table + " LIMIT 0")
	case "trigger":
		list, err := tokens(a.sql)
		if err != nil {
			return err
		}
		for _, t := range list {
			switch {
			case t.is("INSERT"):
				return d.exec("EXPLAIN INSERT INTO " + table + " DEFAULT VALUES")
			case t.is("DELETE"):
				return d.exec("EXPLAIN DELETE FROM " + table)
			case t.is("UPDATE"):
				columns, err := names(d.ctx, d.conn, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", a.table)
				if err != nil || len(columns) == 0 {
					return err
				}
				for i, name := range columns {
					columns[i] = quoteName(name) + " = " + quoteName(name)
				}
				return d.exec("EXPLAIN UPDATE " + table + " SET " + strings.Join(columns, ", "))
			}
		}
	}
	return nil
}

// movedAway is how somebody moves the object out of the way.
func (a addedObject) movedAway() string {
	drop := "DROP " + strings.ToUpper(a.kind) + " " + quoteName(a.name) + ";"
	return "note its definition, " + strings.Join(strings.Fields(a.sql), " ") + ", and take it away with " + drop
}

// renamed is the statement that makes the object under another name.
func (a addedObject) renamed() string {
	list, err := tokens(a.sql)
	if err != nil || len(list) < 3 {
		return a.movedAway()
	}
	for i, t := range list[:len(list)-1] {
		if t.is(a.kind) {
			name := list[i+1]
			return "rename it with DROP " + strings.ToUpper(a.kind) + " " + quoteName(a.name) + "; " +
				a.sql[:name.start] + quoteName("my_"+a.name) + a.sql[name.end:] + ";"
		}
	}
	return a.movedAway()
}

// free refuses a migration whose objects have names that others took.
func (d *stepDriver) free(step int, e effects) error {
	if d.history == nil {
		return nil
	}
	h, err := d.history(d.ctx)
	if err != nil || step > len(h) {
		return err
	}
	fields := func(a *addedObject) []any { return []any{&a.kind, &a.name, &a.table, &a.sql} }
	list, err := collect(d.ctx, d.conn, fields, "SELECT o.type, o.name, o.tbl_name, o.sql FROM sqlite_schema AS o WHERE o.sql IS NOT NULL ORDER BY o.rowid")
	if err != nil {
		return err
	}
	for _, a := range list {
		kind, makes := e.creates[lower(a.name)]
		_, ours := h[step-1][part{a.kind, lower(a.name)}]
		// Triggers have names of their own, all else shares its names.
		if !makes || ours || a.table == "schema_migrations" || (kind == "trigger") != (a.kind == "trigger") {
			continue
		}
		how := "rename it with ALTER TABLE " + quoteName(a.name) + " RENAME TO " + quoteName("my_"+a.name) + ";"
		if a.kind != "table" {
			how = a.renamed()
		}
		return d.inTheWay(step, fmt.Sprintf("the %s, which others added, has the name of a %s that it makes", a, kind), how)
	}
	return nil
}

// referenced refuses to drop a table to which a table of others refers.
func (d *stepDriver) referenced(step int, e effects) error {
	for table := range e.drops {
		if e.rebuilds(table) != "" {
			continue
		}
		others, err := names(d.ctx, d.conn, `
SELECT t.name
FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
WHERE t.type = 'table' AND lower(f."table") = ?1 AND lower(t.name) <> ?1
LIMIT 1`, table)
		if err != nil {
			return err
		}
		for _, name := range others {
			return d.inTheWay(step, fmt.Sprintf("the table %s refers to %s, which goes", name, table), fmt.Sprintf(
				"move its rows with CREATE TABLE %s AS SELECT * FROM %s; DROP TABLE %[2]s;", quoteName("my_"+name), quoteName(name)))
		}
	}
	return nil
}

// because adds the words of the engine.
func because(e *Error, cause error) *Error {
	e.Err = cause
	return e
}

func (d *stepDriver) inTheWay(step int, what, how string) *Error {
	return &Error{
		Kind: KindInTheWay, Path: d.path,
		Message: fmt.Sprintf("schema step %d cannot run: %s", step, what),
		Hint:    how + ", then run the same command again",
	}
}
