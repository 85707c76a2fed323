package db

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// driverOn opens a file for the schema driver alone.
func driverOn(t *testing.T, path string) *stepDriver {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path))
	must(t, err)
	conn, err := pool.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(); _ = pool.Close() })
	return &stepDriver{ctx: t.Context(), conn: conn, begin: func(ctx context.Context, conn *sql.Conn) error {
		return defaultWaits.begin(ctx, path, conn)
	}}
}

func TestDriver(t *testing.T) {
	const family = `
CREATE TABLE parent (id INTEGER PRIMARY KEY);
CREATE TABLE child (parent_id INTEGER REFERENCES parent (id) ON DELETE CASCADE);
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (1), (2)`
	for _, c := range []struct {
		name, second string
		// want is a part of the error, "" means that the step succeeds.
		want string
		// children and version are those afterwards.
		children, version int
	}{
		{"OK", "INSERT INTO child VALUES (1)", "", 3, 16},
		{"Rebuild", "CREATE TABLE new (id INTEGER PRIMARY KEY); INSERT INTO new SELECT id FROM parent; DROP TABLE parent; ALTER TABLE new RENAME TO parent", "", 2, 16},
		{"Failing", "INSERT INTO child VALUES (1); INSERT INTO nowhere VALUES (1)", "no such table", 2, 15},
		{"Commits", "INSERT INTO child VALUES (1); COMMIT", "ended its own transaction", 3, 15},
		{"Orphans", "DELETE FROM parent", "would lose what they refer to", 2, 15},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			d := driverOn(t, path)
			steps := fstest.MapFS{"schema/0015_a.up.sql": {Data: []byte(family)}}
			must(t, opener{path: path, steps: steps, waits: defaultWaits}.up(d))
			steps["schema/0016_b.up.sql"] = &fstest.MapFile{Data: []byte(c.second)}
			err := opener{path: path, steps: steps, waits: defaultWaits}.up(d)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if got := number(t, path, "SELECT count(*) FROM child"); got != c.children {
				t.Errorf("%d children, want %d", got, c.children)
			}
			if got := number(t, path, "SELECT version * 10 + dirty FROM schema_migrations"); got != c.version*10 {
				t.Errorf("version and mark are %d, want %d", got, c.version*10)
			}
			var on int
			must(t, d.conn.QueryRowContext(t.Context(), "PRAGMA foreign_keys").Scan(&on))
			if on != 1 {
				t.Error("foreign keys stayed off")
			}
		})
	}

	t.Run("OldOrphansStay", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.db")
		d := driverOn(t, path)
		steps := fstest.MapFS{"schema/0015_a.up.sql": {Data: []byte(family)}}
		must(t, opener{path: path, steps: steps, waits: defaultWaits}.up(d))
		raw(t, path, "PRAGMA foreign_keys = OFF", "DELETE FROM parent WHERE id = 1")
		steps["schema/0016_b.up.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE other (a)")}
		must(t, opener{path: path, steps: steps, waits: defaultWaits}.up(d))
	})
}
