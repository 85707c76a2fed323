package db

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
)

// marks are user_version and application_id of the source, 0 when its header
// cannot be read.
func (s *salvage) marks() (user, application int32) {
	first := s.pages.page(1)
	if !s.pages.header || first == nil {
		return 0, 0
	}
	return int32(binary.BigEndian.Uint32(first[60:])), int32(binary.BigEndian.Uint32(first[68:]))
}

// readSchema collects the objects of the source. What cannot be read of them
// is taken from the schema that this program knows.
func (s *salvage) readSchema(ctx context.Context) error {
	s.seen, s.free = map[int]bool{}, s.pages.freePages()
	if !s.pages.header {
		s.note("the header of the file is damaged: pages of %d bytes are assumed", s.pages.size)
	}
	found := map[string]bool{}
	read := func(row storedRow) error {
		if schemaRow(row) {
			s.object(row, found)
		}
		return nil
	}
	w := &walk{pages: s.pages, seen: s.seen, row: read}
	if err := w.down(1, everything); err != nil {
		return err
	}
	s.broken = len(w.skipped) > 0 || w.lost > 0
	_, application := s.marks()
	whole := origin{application, found}
	switch {
	case application != 0, !s.broken && !whole.ours():
		return foreignError(s.source)
	case !s.broken:
		return nil
	}
	for n := 1; n <= s.pages.count; n++ {
		rows, err := s.pages.rows(n)
		if s.seen[n] || s.free[n] || err != nil || !slices.ContainsFunc(rows, schemaRow) {
			continue
		}
		s.seen[n] = true
		for _, row := range rows {
			_ = read(row)
		}
	}
	return s.complete(ctx, found)
}

// complete adds what this program would have made.
func (s *salvage) complete(ctx context.Context, found map[string]bool) error {
	known, err := WholeSchema(ctx)
	if err != nil {
		return err
	}
	table, index, _ := strings.Cut(ledgerSQL, ";")
	known = append(known,
		Object{Type: "table", Name: "schema_migrations", SQL: table},
		Object{Type: "index", Name: "version_unique", SQL: index})
	var added []string
	for _, o := range known {
		if found[o.Name] {
			continue
		}
		added = append(added, o.Name)
		if o.Type == "table" {
			s.tables = append(s.tables, &lostTable{name: o.Name, sql: o.SQL})
			continue
		}
		s.others = append(s.others, o)
	}
	s.order()
	if len(added) == 0 {
		s.note("the list of tables is damaged; every object of this program's schema was found all the same")
		return nil
	}
	s.note("the list of tables is damaged; taken from the schema of this program: %s", strings.Join(added, ", "))
	return nil
}

// schemaRow knows a row of sqlite_schema by its look: type, name, table, root
// page, statement.
func schemaRow(row storedRow) bool {
	if len(row.values) != 5 {
		return false
	}
	kind, isText := row.values[0].(string)
	_, named := row.values[1].(string)
	_, rooted := row.values[3].(int64)
	return isText && named && (rooted || row.values[3] == nil) &&
		slices.Contains([]string{"table", "index", "view", "trigger"}, kind)
}

func (s *salvage) object(row storedRow, found map[string]bool) {
	o := Object{Type: row.values[0].(string), Name: row.values[1].(string)}
	o.SQL, _ = row.values[4].(string)
	if o.SQL == "" || found[o.Name] {
		return
	}
	found[o.Name] = true
	if o.Type == "table" {
		root, _ := row.values[3].(int64)
		s.tables = append(s.tables, &lostTable{name: o.Name, sql: o.SQL, root: int(root)})
		return
	}
	s.others = append(s.others, o)
	s.order()
}

// order puts indexes before views and views before triggers: each may name
// the one before.
func (s *salvage) order() {
	place := map[string]int{"index": 0, "view": 1, "trigger": 2}
	slices.SortStableFunc(s.others, func(a, b Object) int { return place[a.Type] - place[b.Type] })
}
