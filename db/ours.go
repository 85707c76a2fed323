package db

import (
	"context"
	"database/sql"
	"strings"
)

// origin is what tells whose file a database is: the mark that programs put
// into the header of theirs, and the names of its tables.
type origin struct {
	application int32
	tables      map[string]bool
}

func readOrigin(ctx context.Context, conn *sql.Conn) (origin, error) {
	c := origin{tables: map[string]bool{}}
	var names string
	err := conn.QueryRowContext(ctx, `
SELECT
    (SELECT application_id FROM pragma_application_id),
    IFNULL(group_concat(name, char(10)), '')
FROM sqlite_schema
WHERE type = 'table'
    AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&c.application, &names)
	for name := range strings.Lines(names) {
		c.tables[strings.TrimSuffix(name, "\n")] = true
	}
	return c, err
}

// ours says whether the database belongs to this program, or to one that
// shares its files: none of them has a mark, and each has had both of these
// tables since its first version.
func (c origin) ours() bool {
	return c.application == 0 && c.tables["sessions"] && c.tables["orchestration_events"]
}

// begun says that the database is what a process leaves that died while
// creating it: nothing, or the ledger of the shared steps alone.
func (c origin) begun() bool {
	return c.application == 0 && (len(c.tables) == 0 || len(c.tables) == 1 && c.tables["schema_version"])
}
