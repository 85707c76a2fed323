package db

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Faults of a Difference.
const (
	FaultMissing = "missing"
	FaultChanged = "changed"
	FaultExtra   = "extra"
)

// Difference is one part of a schema that is not as expected.
type Difference struct {
	// Kind is "table", "column", "index", "trigger" or "view". The keys and
	// CHECK clauses of a table count as columns.
	Kind string
	// Name is that of the part; of a column with its table before it.
	Name  string
	Fault string
	// Expected and Found are the two definitions of a changed part, without
	// what is a matter of writing.
	Expected, Found string
}

// CompareSchema compares the schema with that of a version, and counts the
// parts that are there, by kind. Tables are compared by columns, keys, CHECK
// clauses and what else changes how they store rows, because other programs
// write and alter them in their own manner; the rest token by token. Below our own steps views and triggers count
// by name only: there they are those of whichever program made them. What
// belongs to a missing table is not named again.
func (r *Reader) CompareSchema(ctx context.Context, version int) (list []Difference, parts map[string]int, err error) {
	list, found, err := compareSchema(ctx, r.conn, version)
	parts = map[string]int{}
	for p := range found {
		parts[p.kind]++
	}
	return list, parts, err
}

// compareSchema is the one comparison: doctor, verify, migrate and whatever
// deletes rows go by it.
func compareSchema(ctx context.Context, conn *sql.Conn, version int) (list []Difference, found shape, err error) {
	if found, err = readWhole(ctx, conn); err != nil {
		return nil, nil, err
	}
	expected, err := expectedParts(ctx, version)
	if err != nil {
		return nil, nil, err
	}
	return differences(found, expected, version > SharedLatest), found, nil
}

// String names the part and its fault.
func (d Difference) String() string { return d.Kind + " " + d.Name + " " + d.Fault }

// recreatable says whether the part can be made again without touching a row.
func (d Difference) recreatable() bool {
	return d.Fault != FaultExtra && (d.Kind == "index" || d.Kind == "trigger" || d.Kind == "view")
}

// readWhole reads the shape with everything that tells two tables apart.
func readWhole(ctx context.Context, conn *sql.Conn) (shape, error) {
	found, err := readParts(ctx, conn, "")
	if err != nil {
		return nil, err
	}
	for p, d := range found {
		if p.kind == "table" {
			found.addClauses(d)
		}
	}
	fields := func(d *definition) []any { return []any{&d.table, &d.name, &d.text} }
	keys, err := collect(ctx, conn, fields, `
SELECT
    t.name,
    f."from" || ' REFERENCES',
    lower(
        f."table" || '(' || IFNULL(f."to", '')
        || ') on delete ' || f.on_delete || ' on update ' || f.on_update
    )
FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
WHERE t.type = 'table'
    AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
UNION ALL
SELECT
    t.name,
    'UNIQUE (' || (
        SELECT group_concat(c.part, ', ')
        FROM (
            SELECT IFNULL(x.name, '(expression)') AS part
            FROM pragma_index_xinfo(i.name) AS x
            WHERE x.key = 1
            ORDER BY x.seqno
        ) AS c
    ) || ')',
    (
        SELECT group_concat(lower(x.coll) || iif(x.desc, ' DESC', ''), ', ')
        FROM pragma_index_xinfo(i.name) AS x
        WHERE x.key = 1
    )
FROM sqlite_schema AS t, pragma_index_list(t.name) AS i
WHERE t.type = 'table'
    AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND i.origin = 'u'
UNION ALL
SELECT l.name, 'TABLE OPTIONS', iif(l.strict, 'STRICT ', '') || iif(l.wr, 'WITHOUT ROWID ', '')
FROM pragma_table_list AS l
WHERE l.schema = 'main'
    AND l.type = 'table'
    AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	for _, d := range keys {
		// What the clauses say of it stands there already.
		d.text = strings.TrimSpace(d.text + " " + found[partOf("column", d)].text)
		found.add("column", d)
	}
	return found, err
}

// expectedParts is the schema as it is after step version, with our ledger.
func expectedParts(ctx context.Context, version int) (expected shape, err error) {
	err = inMemory(ctx, stepsUpTo{embedded, version}, func(step int, conn *sql.Conn) error {
		if step < version {
			return nil
		}
		if version > SharedLatest {
			if _, err := conn.ExecContext(ctx, ledgerSQL); err != nil {
				return err
			}
		}
		expected, err = readWhole(ctx, conn)
		return err
	})
	return expected, err
}

// differences names every part that is missing, changed or extra, in the
// order of kinds and names.
func differences(found, expected shape, texts bool) (list []Difference) {
	add := func(p part, d definition, fault string) {
		name := d.name
		if p.kind == "column" {
			name = d.table + "." + name
		}
		difference := Difference{Kind: p.kind, Name: name, Fault: fault}
		if fault == FaultChanged {
			difference.Expected, difference.Found = d.words(p.kind), found[p].words(p.kind)
		}
		list = append(list, difference)
	}
	for p, want := range expected {
		have, there := found[p]
		_, table := found[part{"table", lower(want.table)}]
		byName := p.kind == "table" || !texts && (p.kind == "trigger" || p.kind == "view")
		switch {
		case !there && (table || p.kind == "table" || p.kind == "view"):
			add(p, want, FaultMissing)
		case there && !byName && have.words(p.kind) != want.words(p.kind):
			add(p, want, FaultChanged)
		}
	}
	for p, have := range found {
		_, known := expected[p]
		_, table := expected[part{"table", lower(have.table)}]
		if !known && (table || p.kind == "table" || p.kind == "view") {
			add(p, have, FaultExtra)
		}
	}
	slices.SortFunc(list, func(a, b Difference) int { return strings.Compare(a.Kind+" "+a.Name, b.Kind+" "+b.Name) })
	return list
}

// words are the definition without what is a matter of writing.
func (d definition) words(kind string) string {
	if kind == "column" {
		return d.text
	}
	return objectLine(d.text)
}
