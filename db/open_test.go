package db

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOpen(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		path := fresh(t)
		if got := number(t, path, "SELECT count(*) FROM schema_version WHERE version BETWEEN 1 AND 14"); got != SharedLatest {
			t.Errorf("schema_version holds %d of the shared steps", got)
		}
		if got := number(t, path, "SELECT count(*) FROM schema_version"); got != SharedLatest {
			t.Errorf("schema_version has %d rows, want %d: own steps leave none", got, SharedLatest)
		}
		if got := number(t, path, "SELECT version * 10 + dirty FROM schema_migrations"); got != Latest()*10 {
			t.Errorf("schema_migrations is at %d/10", got)
		}
		before := state(t, filepath.Dir(path))
		if err := open(t, path, Options{Create: true}).Close(); err != nil {
			t.Fatal(err)
		}
		if after := state(t, filepath.Dir(path)); after != before {
			t.Errorf("opening and closing changed\n%sto\n%s", before, after)
		}
	})

	t.Run("Settings", func(t *testing.T) {
		s, err := newOpener(fresh(t), Options{}).connect("rw")
		if err != nil {
			t.Fatal(err)
		}
		s.pool.SetMaxOpenConns(3)
		for range 3 {
			conn, err := s.pool.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for pragma, want := range map[string]string{
				"busy_timeout": "5000", "foreign_keys": "1", "synchronous": "1", "journal_mode": "wal",
			} {
				var got string
				if err := conn.QueryRowContext(context.Background(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
					t.Errorf("%s is %q, want %q (%v)", pragma, got, want, err)
				}
			}
		}
	})

	t.Run("FolderNames", func(t *testing.T) {
		base := t.TempDir()
		names := []string{
			"sp ace", "q?mark", "ha#sh", "pc%20t", "a&b", "qu'ote", `dou"ble`, "\u00fcn\u00ef-\u6570\u636e",
			" lead", "new\nline", "p=mode=ro", "x?mode=memory", "[a]*", "a;b", "back\\slash", "plus+",
		}
		for _, name := range names {
			path := filepath.Join(base, name, "ocr.db")
			if err := open(t, path, Options{Create: true}).Close(); err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			s := open(t, path, Options{})
			if err := join(s.Write(context.Background(), addPair(1)), s.Close()); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if got := notes(t, path); got != 2 {
				t.Errorf("%q: read %d notes, want 2", name, got)
			}
		}
		entries, err := os.ReadDir(base)
		if err != nil || len(entries) != len(names) {
			t.Errorf("%d entries beside %d folders (%v)", len(entries), len(names), err)
		}
	})

	t.Run("Relative", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := open(t, "ocr.db", Options{Create: true}).Close(); err != nil {
			t.Fatal(err)
		}
		if err := readNothing("ocr.db"); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("WriteAheadLogWaits", func(t *testing.T) {
		path := fresh(t)
		raw(t, path, "PRAGMA journal_mode = DELETE")
		holder, err := sql.Open("sqlite", mustAddress(path)+"&_txlock=immediate")
		must(t, err)
		defer holder.Close()
		tx, err := holder.Begin()
		must(t, err)
		time.AfterFunc(80*time.Millisecond, func() { _ = tx.Rollback() })
		s := open(t, path, Options{})
		must(t, s.Write(context.Background(), addPair(1)))
	})

	t.Run("WriteAheadLogAgain", func(t *testing.T) {
		path := fresh(t)
		raw(t, path, "PRAGMA journal_mode = DELETE")
		s := open(t, path, Options{})
		var mode string
		err := s.on(context.Background(), func(conn *sql.Conn) error {
			return conn.QueryRowContext(context.Background(), "PRAGMA journal_mode").Scan(&mode)
		})
		if err != nil || mode != "wal" {
			t.Errorf("journal mode %q, want wal (%v)", mode, err)
		}
	})
}

// TestOpenRefuses holds what is told apart, and that nothing is touched.
func TestOpenRefuses(t *testing.T) {
	core := []string{
		"CREATE TABLE sessions (id TEXT)", "CREATE TABLE orchestration_events (id INTEGER)",
		"CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TEXT, description TEXT)",
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		// read and write are the kinds; "" means that it works.
		read, write Kind
	}{
		{"Missing", func(*testing.T, string) {}, KindNoDatabase, KindNoDatabase},
		{"MissingFolder", func(t *testing.T, path string) { must(t, os.Remove(filepath.Dir(path))) }, KindNoDatabase, KindNoDatabase},
		{"Folder", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) }, KindUnreadable, KindUnreadable},
		{"FileAsFolder", func(t *testing.T, path string) {
			must(t, os.Remove(filepath.Dir(path)))
			write(t, filepath.Dir(path), "x")
		}, KindUnreadable, KindUnreadable},
		{"Empty", func(t *testing.T, path string) { write(t, path, "") }, KindNoDatabase, KindNoDatabase},
		{"EmptyBesideLog", func(t *testing.T, path string) { write(t, path, ""); write(t, path+"-wal", "log") }, KindCorrupt, KindCorrupt},
		{"EmptyBesideSnapshot", func(t *testing.T, path string) { write(t, path, ""); write(t, path+".bak.v12", "copy") }, KindCorrupt, KindCorrupt},
		{"NoTablesHeader", func(t *testing.T, path string) {
			raw(t, path, "PRAGMA journal_mode = WAL")
		}, KindNoDatabase, KindNoDatabase},
		{"Text", func(t *testing.T, path string) { write(t, path, strings.Repeat("not a database\n", 1000)) }, KindNotADatabase, KindNotADatabase},
		{"ShortText", func(t *testing.T, path string) { write(t, path, "no") }, KindNotADatabase, KindNotADatabase},
		{"NoTables", func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE t (a)", "DROP TABLE t")
		}, KindNoDatabase, KindNoDatabase},
		{"Foreign", func(t *testing.T, path string) { raw(t, path, "CREATE TABLE bookmarks (url TEXT)") }, KindForeignDatabase, KindForeignDatabase},
		{"ForeignMigrations", func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE users (a)", "CREATE TABLE schema_migrations (version uint64, dirty bool)", "INSERT INTO schema_migrations VALUES (99, 0)")
		}, KindForeignDatabase, KindForeignDatabase},
		{"ForeignApplication", func(t *testing.T, path string) { raw(t, path, "PRAGMA application_id = 7") }, KindForeignDatabase, KindForeignDatabase},
		{"EmptyLedgerOnly", func(t *testing.T, path string) { raw(t, path, core[2]) }, KindNoDatabase, KindNoDatabase},
		{"LedgerOnly", func(t *testing.T, path string) {
			raw(t, path, core[2], "INSERT INTO schema_version VALUES (1, '', '')")
		}, KindHalfUpgraded, KindHalfUpgraded},
		{"OwnLedgerAhead", func(t *testing.T, path string) {
			raw(t, path, append(core, ledgerSQL, "INSERT INTO schema_version VALUES (1, '', '')", "INSERT INTO schema_migrations VALUES (9, 0)")...)
		}, KindHalfUpgraded, KindHalfUpgraded},
		{"LedgersDisagree", func(t *testing.T, path string) {
			current(t, path)
			raw(t, path, "DELETE FROM schema_version WHERE version > 11")
		}, KindHalfUpgraded, KindHalfUpgraded},
		{"StepLeftOut", func(t *testing.T, path string) {
			current(t, path)
			raw(t, path, "DROP VIEW agent_journal", "DROP TABLE process_identity")
		}, KindOutOfOrder, KindOutOfOrder},
		{"Dirty", func(t *testing.T, path string) {
			current(t, path)
			raw(t, path, "UPDATE schema_migrations SET dirty = 1", "ALTER TABLE user_notes RENAME COLUMN content TO text")
		}, KindDirty, KindDirty},
		{"DirtyWithoutView", func(t *testing.T, path string) {
			current(t, path)
			raw(t, path, "UPDATE schema_migrations SET dirty = 1", "DROP VIEW session_completeness")
		}, "", KindDirty},
		{"Newer", func(t *testing.T, path string) {
			current(t, path)
			raw(t, path, "UPDATE schema_migrations SET version = version + 1")
		}, "", KindNewerSchema},
		{"NewerShared", func(t *testing.T, path string) {
			current(t, path)
			raw(t, path, "INSERT INTO schema_version VALUES (15, '', '')")
		}, "", ""},
		{"Damaged", func(t *testing.T, path string) {
			current(t, path)
			damage(t, path)
		}, KindCorrupt, KindCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := t.TempDir()
			path := filepath.Join(base, "data", "ocr.db")
			must(t, os.Mkdir(filepath.Dir(path), 0o755))
			c.make(t, path)
			before := tree(t, base)
			wantKind(t, readNothing(path), c.read)
			s, err := Open(context.Background(), path, Options{})
			wantKind(t, err, c.write)
			if s != nil {
				must(t, s.Close())
			}
			if after := tree(t, base); after != before {
				t.Errorf("changed\n%sto\n%s", before, after)
			}
			if c.write == "" {
				return
			}
			for _, word := range []string{"rm ", "delete", "--force", " init", "remove"} {
				if strings.Contains(err.(*Error).Hint, word) {
					t.Errorf("the hint %q advises %q", err.(*Error).Hint, word)
				}
			}
			s, err = Open(context.Background(), path, Options{Create: true})
			if c.write == KindNoDatabase {
				must(t, err)
				must(t, s.Close())
				return
			}
			wantKind(t, err, c.write)
		})
	}
}

// TestCreateBesideLog keeps the log of a lost file.
func TestCreateBesideLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ocr.db")
	write(t, path+"-wal", "log")
	_, err := Open(context.Background(), path, Options{Create: true})
	wantKind(t, err, KindCorrupt)
	if content, err := os.ReadFile(path + "-wal"); err != nil || string(content) != "log" {
		t.Errorf("the log is %q (%v)", content, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), 0o644))
}

// current makes a database of the latest version at path.
func current(t *testing.T, path string) {
	t.Helper()
	must(t, open(t, path, Options{Create: true}).Close())
	must(t, os.Remove(path+".lock"))
}

// damage overwrites the root page of the table of tables behind its header.
func damage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", 3000)), 100)
	must(t, err)
	must(t, f.Close())
}

// tree is the state of a folder and its data folder.
func tree(t *testing.T, base string) string {
	t.Helper()
	text := state(t, base)
	if info, err := os.Stat(filepath.Join(base, "data")); err == nil && info.IsDir() {
		text += state(t, filepath.Join(base, "data"))
	}
	return text
}

// notes counts the notes that no dying process has spoiled.
func notes(t *testing.T, path string) int {
	t.Helper()
	var n int
	must(t, Read(context.Background(), path, func(ctx context.Context, r *Reader) error {
		return r.conn.QueryRowContext(ctx, "SELECT count(*) FROM user_notes WHERE content <> 'spoiled'").Scan(&n)
	}))
	return n
}
