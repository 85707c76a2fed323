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

// shape is a whole schema: the statement that makes each part; empty for a
// column.
type shape map[part]string

// readShape reads the shape of a database, the ledger of our own steps apart.
func readShape(ctx context.Context, conn *sql.Conn) (found shape, err error) {
	rows, err := conn.QueryContext(ctx, `
SELECT o.type, o.name, IFNULL(o.sql, '')
FROM sqlite_schema AS o
WHERE o.name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND o.tbl_name <> 'schema_migrations'
UNION ALL
SELECT 'column', t.name || '.' || c.name, ''
FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
WHERE t.type = 'table'
    AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND t.name <> 'schema_migrations'`)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, rows.Close()) }()
	found = shape{}
	for rows.Next() {
		var p part
		var statement string
		if err := rows.Scan(&p.kind, &p.name, &statement); err != nil {
			return nil, err
		}
		p.name = strings.ToLower(p.name)
		found[p] = statement
	}
	return found, rows.Err()
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
	return readHistory(ctx, o.steps)
}

// readHistory runs the steps on an empty database in memory.
func readHistory(ctx context.Context, steps fs.FS) (h history, err error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, conn.Close()) }()
	names, err := fs.Glob(steps, "schema/*.up.sql")
	if err != nil {
		return nil, err
	}
	h = history{{}}
	for _, name := range names {
		body, err := fs.ReadFile(steps, name)
		if err != nil {
			return nil, err
		}
		if _, err := conn.ExecContext(ctx, string(body)); err != nil {
			return nil, fmt.Errorf("schema step %s: %w", name, err)
		}
		after, err := readShape(ctx, conn)
		if err != nil {
			return nil, err
		}
		h = append(h, after)
	}
	return h, nil
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

// checkShape refuses a file whose tables are not those of its version: a step
// would fail on it, or do harm.
func (o opener) checkShape(ctx context.Context, conn *sql.Conn, h history) error {
	return inTransaction(ctx, conn, beginReading, func() error {
		now, err := inspect(ctx, conn, o.path, o.steps)
		if err != nil || !now.old() {
			return err
		}
		found, err := readShape(ctx, conn)
		if err != nil {
			return err
		}
		missing, foreign := h.compare(now.version(), found)
		switch {
		case len(missing) > 0 && now.version() > SharedLatest:
			return outOfOrderError(o.path, now.version(), missing)
		case len(missing) > 0:
			return halfUpgradedError(o.path, fmt.Sprintf("it is recorded at schema version %d but lacks what belongs to %s", now.version(), some(missing)))
		case len(foreign) > 0:
			return halfUpgradedError(o.path, fmt.Sprintf("it is recorded at schema version %d but has the %s", now.version(), some(foreign)))
		}
		return nil
	})
}

func beginReading(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "BEGIN")
	return err
}
