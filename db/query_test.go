package db

import (
	"context"
	"errors"
	"testing"
)

func TestReadOnlyStatement(t *testing.T) {
	for _, statement := range []string{
		"SELECT 1", "select 1;", " -- a\n/* b */ SELECT 1 ; ; -- c", "VALUES (1), (2)",
		"SELECT ';', \";\", `;`, [;]", "SELECT 'it''s; fine'", "SELECT 1 /* open", "(SELECT 1)"[1:9],
		"WITH a AS (SELECT 1) SELECT * FROM a", "WITH RECURSIVE n(i) AS (VALUES(1) UNION SELECT i+1 FROM n WHERE i<3) SELECT * FROM n",
		"WITH a AS (SELECT replace('a','b','c')) VALUES (1)", "SELECT replace('a', 'a', 'b')",
		"EXPLAIN SELECT 1", "explain query plan select 1", "EXPLAIN WITH a AS (SELECT 1) SELECT 1",
		"PRAGMA table_info(sessions)", "PRAGMA main.table_info('sessions');", "PRAGMA user_version",
		"PRAGMA integrity_check", "PRAGMA integrity_check(5)", "SELECT name FROM sqlite_schema WHERE name LIKE 'load_extension%'",
		"SELECT * FROM pragma_table_list",
	} {
		if err := ReadOnlyStatement(statement); err != nil {
			t.Errorf("%q: %v", statement, err)
		}
	}
	for _, statement := range []string{
		"", " ; ", "-- only a comment", "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE sessions", "SELECT 1 -- a\n; DELETE FROM sessions",
		"INSERT INTO a VALUES (1)", "UPDATE a SET b = 1", "DELETE FROM a", "REPLACE INTO a VALUES (1)", "CREATE TABLE a (b)", "DROP TABLE a",
		"ATTACH 'x' AS y", "DETACH y", "VACUUM", "VACUUM INTO 'x'", "BEGIN", "COMMIT", "ROLLBACK", "ANALYZE", "REINDEX",
		"WITH a AS (SELECT 1) DELETE FROM b", "with a as (select 1) insert into b select * from a", "WITH a AS (SELECT 1)",
		"EXPLAIN DELETE FROM a", "EXPLAIN", "EXPLAIN QUERY PLAN", "EXPLAIN PRAGMA user_version", "EXPLAIN EXPLAIN SELECT 1",
		"PRAGMA", "PRAGMA user_version = 5", "PRAGMA user_version(5)", "PRAGMA main.user_version=5", "PRAGMA journal_mode", "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode(DELETE)",
		"PRAGMA writable_schema = 1", "PRAGMA query_only(0)", "PRAGMA wal_checkpoint", "PRAGMA optimize", "PRAGMA table_info = sessions",
		"PRAGMA temp_store_directory = '/tmp'", "PRAGMA integrity_check(1) x", "SELECT load_extension('x')", "SELECT \"load_extension\" ('x')", "SELECT writefile /* a */ ('a', 'b')",
		"SELECT 'open", "SELECT \"open", "SELECT [open", "SELECT 1\x00; DROP TABLE a", "\"SELECT\" 1", "(SELECT 1)", "/* only",
	} {
		var refused *StatementError
		if err := ReadOnlyStatement(statement); !errors.As(err, &refused) {
			t.Errorf("%q was accepted", statement)
		}
	}
}

// TestReaderQuery runs accepted statements on the engine.
func TestReaderQuery(t *testing.T) {
	path := fresh(t)
	for pragma := range readPragmas {
		must(t, Read(t.Context(), path, func(ctx context.Context, r *Reader) error {
			rows, err := r.Query(ctx, "PRAGMA "+pragma)
			if err != nil {
				return err
			}
			return rows.Close()
		}))
	}
	err := Read(t.Context(), path, func(ctx context.Context, r *Reader) error {
		_, err := r.Query(ctx, "ATTACH 'x' AS y")
		return err
	})
	var refused *StatementError
	if !errors.As(err, &refused) {
		t.Errorf("error %v", err)
	}
}
