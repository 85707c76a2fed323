package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// lostTable is one table on its way from the damaged file to the new one.
type lostTable struct {
	name, sql string
	// root is the page where its tree begins, 0 when nobody knows.
	root int
	// made says that the new file has the table.
	made    bool
	columns []lostColumn
	conn    *sql.Conn
	// inserts are statements by the number of values they take.
	inserts map[int]*sql.Stmt
	result  SalvagedTable
	// skipped are the numbers of rows that may still turn up.
	skipped []span
}

type lostColumn struct {
	name, kind string
	// required: no row has NULL here.
	required bool
	// added: a row may end before it, because the column can have been added
	// to the table after the row was written.
	added bool
	// number: the column is the row number itself.
	number bool
}

// create makes the table in the new file and asks the engine for its columns.
func (t *lostTable) create(ctx context.Context, conn *sql.Conn) error {
	if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(t.sql)), "CREATE VIRTUAL") {
		return errors.New("it is a virtual table")
	}
	if _, err := conn.ExecContext(ctx, t.sql); err != nil {
		return err
	}
	var withoutNumbers bool
	err := conn.QueryRowContext(ctx, "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", t.name).Scan(&withoutNumbers)
	if err != nil {
		return err
	}
	if withoutNumbers {
		return errors.New("it is a table WITHOUT ROWID")
	}
	t.columns, err = lostColumns(ctx, conn, t.name)
	if err != nil {
		return err
	}
	t.conn, t.inserts, t.made = conn, map[int]*sql.Stmt{}, true
	t.result = SalvagedTable{Name: t.name, Skipped: []RowRange{}}
	return nil
}

func lostColumns(ctx context.Context, conn *sql.Conn, table string) ([]lostColumn, error) {
	fields := func(c *lostColumn) []any { return []any{&c.name, &c.kind, &c.required, &c.added, &c.number} }
	return collect(ctx, conn, fields, `
SELECT
    name,
    upper(type),
    "notnull",
    NOT "notnull" OR IFNULL(dflt_value NOT LIKE '%(%', 0),
    upper(type) = 'INTEGER' AND pk = 1
        AND 1 = (SELECT count(*) FROM pragma_table_xinfo(?1) WHERE pk > 0)
FROM pragma_table_xinfo(?1)
WHERE hidden = 0
ORDER BY cid`, table)
}

// fromTree saves the rows that the tree of the table leads to.
func (t *lostTable) fromTree(ctx context.Context, s *salvage) error {
	w := &walk{pages: s.pages, seen: s.seen, row: func(row storedRow) error { return t.save(ctx, row) }}
	if err := w.down(t.root, everything); err != nil {
		return err
	}
	t.skipped, t.result.Lost = w.skipped, w.lost
	return nil
}

// save puts one row into the new table. A row that breaks a rule of it is
// counted and left out.
func (t *lostTable) save(ctx context.Context, row storedRow) error {
	saved, err := t.try(ctx, row)
	switch {
	case err != nil:
		return err
	case saved:
		t.result.Saved++
	default:
		t.result.Refused++
	}
	return nil
}

func (t *lostTable) try(ctx context.Context, row storedRow) (saved bool, err error) {
	if len(row.values) > len(t.columns) {
		return false, nil
	}
	statement, err := t.statement(ctx, len(row.values))
	if err != nil {
		return false, err
	}
	args := []any{row.rowid}
	for i, value := range row.values {
		if !t.columns[i].number {
			args = append(args, value)
		}
	}
	_, err = statement.ExecContext(ctx, args...)
	if err != nil && KindOf(engineError(t.name, err)) == KindConstraint {
		return false, nil
	}
	return err == nil, err
}

// statement inserts a row of the first count columns under its old number.
func (t *lostTable) statement(ctx context.Context, count int) (*sql.Stmt, error) {
	if known := t.inserts[count]; known != nil {
		return known, nil
	}
	columns, values := []string{"rowid"}, []string{"?"}
	for _, c := range t.columns[:count] {
		if !c.number {
			columns, values = append(columns, quoteName(c.name)), append(values, "?")
		}
	}
	statement, err := t.conn.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)",
		quoteName(t.name), strings.Join(columns, ", "), strings.Join(values, ", ")))
	t.inserts[count] = statement
	return statement, err
}

func (t *lostTable) close() error {
	var all error
	for _, statement := range t.inserts {
		all = join(all, statement.Close())
	}
	return all
}

// outcome is the report on the table, once nothing more can turn up.
func (t *lostTable) outcome() SalvagedTable {
	for _, s := range t.skipped {
		if s.to < 1 {
			continue // row numbers start at 1
		}
		t.result.Skipped = append(t.result.Skipped, s.rowRange())
	}
	return t.result
}

// loosePages looks for leaves that nothing leads to, and gives each to the
// one table that misses such rows.
func (s *salvage) loosePages(ctx context.Context, tables []*lostTable) error {
	if !slices.ContainsFunc(tables, func(t *lostTable) bool { return len(t.skipped) > 0 }) {
		return nil
	}
	if !s.pages.header {
		s.note("the list of free pages is lost: rows that were deleted before may show again")
	}
	for n := 1; n <= s.pages.count; n++ {
		if s.seen[n] || s.free[n] {
			continue
		}
		rows, err := s.pages.rows(n)
		if err != nil {
			continue
		}
		owner, err := s.owner(ctx, tables, rows)
		if err != nil {
			return err
		}
		if owner == nil {
			s.result.UnplacedPages++
			s.result.UnplacedRows += int64(len(rows))
			continue
		}
		for _, row := range rows {
			before := owner.result.Saved
			if err := owner.save(ctx, row); err != nil {
				return err
			}
			owner.result.Loose += owner.result.Saved - before
		}
		owner.found(span{rows[0].rowid, rows[len(rows)-1].rowid})
	}
	return nil
}

// owner is the only table that all rows fit: by the look of the values, and
// where several are left, by the rules of the tables.
func (s *salvage) owner(ctx context.Context, tables []*lostTable, rows []storedRow) (*lostTable, error) {
	var fit []*lostTable
	for _, t := range tables {
		if !slices.ContainsFunc(rows, func(row storedRow) bool { return !t.fits(row) }) {
			fit = append(fit, t)
		}
	}
	if len(fit) > 1 {
		var allowed []*lostTable
		for _, t := range fit {
			ok, err := t.takes(ctx, rows)
			if err != nil {
				return nil, err
			}
			if ok {
				allowed = append(allowed, t)
			}
		}
		fit = allowed
	}
	if len(fit) != 1 {
		return nil, nil
	}
	return fit[0], nil
}

// takes tries the rows on the rules of the table and undoes it again.
func (t *lostTable) takes(ctx context.Context, rows []storedRow) (ok bool, err error) {
	if _, err := t.conn.ExecContext(ctx, "SAVEPOINT trial"); err != nil {
		return false, err
	}
	defer func() {
		_, undo := t.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO trial; RELEASE trial")
		err = join(err, undo)
	}()
	for _, row := range rows {
		if saved, err := t.try(ctx, row); err != nil || !saved {
			return false, err
		}
	}
	return true, nil
}

// fits says whether the row could be one that the table misses.
func (t *lostTable) fits(row storedRow) bool {
	missed := slices.ContainsFunc(t.skipped, func(s span) bool { return s.from <= row.rowid && row.rowid <= s.to })
	if !missed || len(row.values) > len(t.columns) {
		return false
	}
	for i, c := range t.columns {
		if i >= len(row.values) {
			if !c.added {
				return false
			}
			continue
		}
		_, isText := row.values[i].(string)
		_, isNumber := row.values[i].(int64)
		switch {
		case c.number && row.values[i] != nil, c.required && !c.number && row.values[i] == nil:
			return false
		case row.values[i] == nil:
		case c.kind == "TEXT" && !isText, c.kind == "INTEGER" && !isNumber:
			return false
		}
	}
	return true
}

// found takes the numbers of a loose page out of those that are missing.
func (t *lostTable) found(page span) {
	var left []span
	for _, s := range t.skipped {
		if page.to < s.from || page.from > s.to {
			left = append(left, s)
			continue
		}
		if s.from < page.from {
			left = append(left, span{s.from, page.from - 1})
		}
		if page.to < s.to && page.to != math.MaxInt64 {
			left = append(left, span{page.to + 1, s.to})
		}
	}
	t.skipped = left
}
