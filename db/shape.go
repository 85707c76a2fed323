package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// part is one table, column, index, trigger or view.
type part struct {
	// kind is "table", "column", "index", "trigger" or "view".
	kind string
	// name is in lower case, that of a column with its table before it.
	name string
}

func (p part) String() string { return p.kind + " " + p.name }

// definition is what a schema says of a part.
type definition struct {
	// table is the table that the part belongs to, name its own name; both as
	// they are written.
	table, name string
	// text is the statement that makes the part; of a column its type and what
	// else is said of it.
	text string
}

// shape is a whole schema.
type shape map[part]definition

func (s shape) add(kind string, d definition) { s[partOf(kind, d)] = d }

func partOf(kind string, d definition) part {
	name := d.name
	if kind == "column" {
		name = d.table + "." + name
	}
	return part{kind, lower(name)}
}

// readShape reads the shape of a database, the ledger of our own steps apart.
func readShape(ctx context.Context, conn *sql.Conn) (shape, error) {
	return readParts(ctx, conn, "schema_migrations")
}

// readParts reads the shape of a database without what belongs to one table.
func readParts(ctx context.Context, conn *sql.Conn, without string) (shape, error) {
	type row struct {
		kind         string
		d            definition
		defaultValue *string
		key          int
	}
	fields := func(r *row) []any { return []any{&r.kind, &r.d.table, &r.d.name, &r.d.text, &r.defaultValue, &r.key} }
	rows, err := collect(ctx, conn, fields, `
SELECT o.type, o.tbl_name, o.name, IFNULL(o.sql, ''), NULL, 0
FROM sqlite_schema AS o
WHERE o.name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND o.tbl_name <> ?1
UNION ALL
SELECT
    'column', t.name, c.name,
    upper(c.type) || CASE WHEN c."notnull" THEN ' NOT NULL' ELSE '' END,
    c.dflt_value, c.pk
FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
WHERE t.type = 'table'
    AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND t.name <> ?1`, without)
	found := shape{}
	for _, r := range rows {
		if value := r.defaultValue; value != nil && !strings.EqualFold(*value, "NULL") {
			r.d.text += " DEFAULT " + oneLine(*value)
		}
		if r.key != 0 {
			r.d.text += fmt.Sprintf(" PRIMARY KEY %d", r.key)
		}
		found.add(r.kind, r.d)
	}
	return found, err
}

// history is the shape after each step; at place 0 it is empty.
type history []shape

// embeddedHistory is read once at most: it takes as long as a small upgrade.
var embeddedHistory = sync.OnceValues(func() (history, error) {
	return readHistory(context.Background(), embedded)
})

func (o opener) history(ctx context.Context) (history, error) {
	if o.steps == fs.FS(embedded) {
		return embeddedHistory()
	}
	if some, ok := o.steps.(stepsUpTo); ok && some.FS == fs.FS(embedded) {
		h, err := embeddedHistory()
		if err != nil {
			return nil, err
		}
		return h[:some.version+1], nil
	}
	return readHistory(ctx, o.steps)
}

// readHistory runs the steps on an empty database in memory.
func readHistory(ctx context.Context, steps fs.FS) (history, error) {
	h := history{{}}
	err := inMemory(ctx, steps, func(_ int, conn *sql.Conn) error {
		after, err := readShape(ctx, conn)
		h = append(h, after)
		return err
	})
	return h, err
}

// compare finds what a file of a version lacks, and what it has of other
// versions than its own. Each entry names the step that brings or takes the
// part. Things that no step knows are none of our business.
func (h history) compare(version int, found shape) (missing, foreign []string) {
	for p := range h[version] {
		if _, there := found[p]; !there && (p.kind == "table" || p.kind == "column") {
			missing = append(missing, fmt.Sprintf("step %d (%s)", h.brings(p, version), p))
		}
	}
	for p := range found {
		if _, expected := h[version][p]; expected {
			continue
		}
		if step := h.takes(p, version); step > 0 {
			foreign = append(foreign, fmt.Sprintf("%s, which step %d takes away", p, step))
		} else if step := h.brings(p, len(h)-1); step > version {
			foreign = append(foreign, fmt.Sprintf("%s, which step %d brings", p, step))
		}
	}
	slices.Sort(missing)
	slices.Sort(foreign)
	return missing, foreign
}

// renamed are the statements that rename what has the name of an index,
// trigger or view of a later own step and is not that one.
func (h history) renamed(version int, found shape) (statements []string) {
	for p, d := range found {
		if _, expected := h[version][p]; expected || p.kind == "table" || p.kind == "column" {
			continue
		}
		if step := h.brings(p, len(h)-1); step > max(version, SharedLatest) && d.words(p.kind) != h[step][p].words(p.kind) {
			statements = append(statements, addedObject{kind: p.kind, name: d.name, table: d.table, sql: d.text}.renamed())
		}
	}
	slices.Sort(statements)
	return statements
}

// brings is the first step up to a version after which the part is there.
func (h history) brings(p part, version int) int {
	for step := 1; step <= version; step++ {
		if _, there := h[step][p]; there {
			return step
		}
	}
	return 0
}

// takes is the last step up to a version that takes the part away.
func (h history) takes(p part, version int) int {
	for step := version; step > 1; step-- {
		_, before := h[step-1][p]
		if _, after := h[step][p]; before && !after {
			return step
		}
	}
	return 0
}

// checkShape refuses a file whose tables are not those of its version, and one
// to which others have added what a step cannot be run beside: a step would
// fail on it, or do harm.
func (o opener) checkShape(ctx context.Context, conn *sql.Conn, h history) error {
	return inTransaction(ctx, conn, beginReading, func() error {
		now, err := inspect(ctx, conn, o.path, o.steps)
		if err != nil || !now.old() {
			return err
		}
		if _, err = h.check(ctx, conn, o.path, now.version()); err != nil {
			return err
		}
		return o.preflight(ctx, conn)
	})
}

// check refuses a file whose tables are not those of the version; mixed says
// that some are those of other versions.
func (h history) check(ctx context.Context, conn *sql.Conn, path string, version int) (mixed bool, err error) {
	found, err := readShape(ctx, conn)
	if err != nil {
		return false, err
	}
	missing, foreign := h.compare(version, found)
	mixed = len(foreign) > 0
	switch {
	case len(missing) > 0 && version > SharedLatest:
		return mixed, outOfOrderError(path, version, missing)
	case len(missing) > 0:
		return mixed, halfUpgradedError(path, fmt.Sprintf("it is recorded at schema version %d but lacks what belongs to %s", version, some(missing)))
	case len(foreign) > 0:
		refused := halfUpgradedError(path, fmt.Sprintf("it is recorded at schema version %d but has the %s", version, some(foreign)))
		if own := h.renamed(version, found); len(own) > 0 {
			refused.Hint = strings.Join(own, " ") + " if it is yours; else " + refused.Hint
		}
		return mixed, refused
	}
	return false, nil
}

func beginReading(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "BEGIN")
	return err
}
