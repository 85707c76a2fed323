package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filled makes a database with rows in every table, some of them longer than
// a page, and some deleted again.
func filled(t *testing.T) string {
	t.Helper()
	path := fresh(t)
	raw(t, path, `
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO sessions (id, branch, workflow_type, session_dir)
SELECT printf('s-%03d', i), 'main', iif(i % 2, 'review', 'map'), '.ocr/sessions/s' || i FROM n`, `
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata)
SELECT printf('s-%03d', 1 + i % 40), 'phase_transition', 'context', 1, 1, iif(i % 7, NULL, hex(randomblob(i % 3000)))
FROM n`, `
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900)
INSERT INTO command_executions (command, args, uid, workflow_id)
SELECT 'ocr review', '{"n":' || i || '}', 'u' || i, printf('s-%03d', 1 + i % 40) FROM n`, `
INSERT INTO process_identity (execution_id, host) SELECT id, 'host' FROM command_executions`, `
INSERT INTO review_rounds (session_id, round_number, verdict) SELECT id, 1, 'APPROVE' FROM sessions`, `
INSERT INTO reviewer_outputs (round_id, reviewer_type, instance_number, file_path)
SELECT id, 'quality', 1, 'q.md' FROM review_rounds`, `
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
INSERT INTO review_findings (reviewer_output_id, title, severity, summary, is_blocker)
SELECT 1 + i % 40, 'finding number ' || i, 'low', hex(randomblob(100)), i % 2 FROM n`, `
INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content)
SELECT id, 'context', 'context.md', hex(randomblob(9000)) FROM sessions`, `
INSERT INTO map_runs (session_id, run_number) SELECT id, 1 FROM sessions`, `
INSERT INTO map_sections (map_run_id, section_number, title) SELECT id, 1, 'section' FROM map_runs`, `
INSERT INTO map_files (section_id, file_path) SELECT id, 'main.go' FROM map_sections`, `
INSERT INTO user_file_progress (map_file_id) SELECT id FROM map_files`, `
INSERT INTO user_finding_progress (finding_id, status) SELECT id, 'read' FROM review_findings`, `
INSERT INTO user_round_progress (round_id) SELECT id FROM review_rounds`, `
INSERT INTO user_notes (target_type, target_id, content) SELECT 'round', id, 'a note' FROM review_rounds`, `
INSERT INTO chat_conversations (id, session_id, target_type, target_id)
SELECT 'c' || id, session_id, 'review_round', id FROM review_rounds`, `
INSERT INTO chat_messages (conversation_id, role, content) SELECT id, 'user', 'why?' FROM chat_conversations`, `
DELETE FROM review_findings WHERE id > 950`)
	return path
}

// content is every row of every table, as text, one line a row.
func content(t *testing.T, path string) map[string][]string {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tables, err := names(t.Context(), conn, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, table := range tables {
		columns, err := names(t.Context(), conn, "SELECT 'quote(' || name || ')' FROM pragma_table_info(?)", table)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := names(t.Context(), conn, "SELECT rowid || ': ' || "+strings.Join(columns, " || ', ' || ")+" FROM "+quoteName(table)+" ORDER BY rowid")
		if err != nil {
			t.Fatal(err)
		}
		all[table] = rows
	}
	return all
}

func schemaOf(t *testing.T, path string) []string {
	t.Helper()
	var list []string
	err := Inspect(t.Context(), path, func(ctx context.Context, r *Reader) error {
		var err error
		list, err = names(ctx, r.conn, "SELECT name || ' ' || sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (s Salvaged) table(t *testing.T, name string) SalvagedTable {
	t.Helper()
	for _, table := range s.Tables {
		if table.Name == name {
			return table
		}
	}
	t.Fatalf("no report on %s", name)
	return SalvagedTable{}
}

func salvaged(t *testing.T, source string) (Salvaged, string) {
	t.Helper()
	before := state(t, filepath.Dir(source))
	target := filepath.Join(t.TempDir(), "saved.db")
	result, err := Salvage(t.Context(), source, target)
	if err != nil {
		t.Fatal(err)
	}
	if after := state(t, filepath.Dir(source)); after != before {
		t.Errorf("the source was touched:\n%s\n%s", before, after)
	}
	if left, _ := os.ReadDir(filepath.Dir(target)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	return result, target
}

// pageOf returns the numbers of the pages of a table or index, of one kind
// (leaf, internal, overflow).
func pageOf(t *testing.T, path, name, kind string) []int {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rows, err := pool.Query("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno", name, kind)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []int
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		t.Fatalf("%s has no %s page", name, kind)
	}
	return list
}

func overwrite(t *testing.T, path string, at int64, bytes []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes, at); err != nil {
		t.Fatal(err)
	}
}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

const page = 4096

// TestSalvage damages a file in one way at a time. Whatever the damage, no
// row may appear that was not there, and the rows elsewhere must all be saved.
func TestSalvage(t *testing.T) {
	original := filled(t)
	want := content(t, original)
	wantSchema := schemaOf(t, original)
	bytesOf, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	first := func(name, kind string) int { return pageOf(t, original, name, kind)[0] }
	middle := func(name, kind string) int {
		list := pageOf(t, original, name, kind)
		return list[len(list)/2]
	}
	cases := map[string]struct {
		damage func(path string)
		// hurt are the tables that may miss rows; without any, all is saved.
		hurt []string
		// complete is what the report must say.
		complete bool
		// least is how many rows of the first hurt table must be saved.
		least int
	}{
		"Sound": {damage: func(string) {}, complete: true},
		"ZeroedPage": {
			damage: func(path string) {
				overwrite(t, path, int64(middle("orchestration_events", "leaf")-1)*page, make([]byte, page))
			},
			hurt: []string{"orchestration_events"}, least: 2900,
		},
		"NoisyPage": {
			damage: func(path string) {
				overwrite(t, path, int64(middle("review_findings", "leaf")-1)*page, noise(page))
			},
			hurt: []string{"review_findings"}, least: 900,
		},
		"NoisyRoot": {
			damage: func(path string) {
				overwrite(t, path, int64(first("orchestration_events", "internal")-1)*page, noise(page))
			},
			least: 3000,
		},
		"Overflow": {
			damage: func(path string) {
				overwrite(t, path, int64(middle("markdown_artifacts", "overflow")-1)*page, bytes.Repeat([]byte{0xff}, page))
			},
			hurt: []string{"markdown_artifacts"}, least: 39,
		},
		"Truncated": {
			damage: func(path string) {
				if err := os.Truncate(path, int64(len(bytesOf)/2)); err != nil {
					t.Fatal(err)
				}
			},
			hurt: keys(want), least: 1,
		},
		"Header": {
			damage: func(path string) { overwrite(t, path, 0, noise(headerSize)) },
			// Every tree is still whole.
			complete: true,
		},
		"FirstPage": {
			damage: func(path string) { overwrite(t, path, 0, noise(page)) },
		},
		"SchemaPage": {
			damage: func(path string) {
				overwrite(t, path, int64(middle("sqlite_schema", "leaf")-1)*page, make([]byte, page))
			},
		},
		"TableSchemaPage": {
			damage: func(path string) {
				overwrite(t, path, int64(first("sqlite_schema", "leaf")-1)*page, make([]byte, page))
			},
		},
		"IndexRow": {
			damage: func(path string) {
				raw(t, path, "PRAGMA writable_schema = ON",
					"DELETE FROM sqlite_schema WHERE name = 'idx_events_session'")
			},
			complete: true,
		},
		"IndexPage": {
			damage: func(path string) {
				overwrite(t, path, int64(middle("idx_events_session_created", "leaf")-1)*page, noise(page))
			},
			complete: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ocr.db")
			if err := os.WriteFile(path, bytesOf, 0o644); err != nil {
				t.Fatal(err)
			}
			c.damage(path)
			result, target := salvaged(t, path)
			if result.Complete != c.complete {
				t.Errorf("complete %v, want %v: %+v", result.Complete, c.complete, result)
			}
			got := content(t, target)
			for table, rows := range want {
				report := result.table(t, table)
				if int(report.Saved) != len(got[table]) {
					t.Errorf("%s: reported %d, saved %d", table, report.Saved, len(got[table]))
				}
				known := map[string]bool{}
				for _, row := range rows {
					known[row] = true
				}
				for _, row := range got[table] {
					if !known[row] {
						t.Errorf("%s: a row that was never there: %.200s", table, row)
					}
				}
				hurt := false
				for _, h := range c.hurt {
					hurt = hurt || h == table
				}
				missing := len(rows) - len(got[table])
				if missing > 0 && !hurt {
					t.Errorf("%s: %d of %d rows are missing: %+v", table, missing, len(rows), report)
				}
				if missing > 0 && report.Lost == 0 && len(report.Skipped) == 0 && result.UnplacedPages == 0 {
					t.Errorf("%s: nothing is said about %d missing rows", table, missing)
				}
			}
			if name == "NoisyRoot" && result.table(t, "orchestration_events").Loose != 3000 {
				t.Errorf("no loose rows: %+v", result.table(t, "orchestration_events"))
			}
			if len(c.hurt) > 0 && len(got[c.hurt[0]]) < c.least {
				t.Errorf("%s: only %d rows saved", c.hurt[0], len(got[c.hurt[0]]))
			}
			if s := schemaOf(t, target); name != "IndexRow" && len(s) != len(wantSchema) {
				t.Errorf("%d objects, want %d", len(s), len(wantSchema))
			}
			if err := readNothing(target); err != nil {
				t.Errorf("the new file cannot be read: %v", err)
			}
			t.Logf("%+v", result.Notes)
		})
	}
}

func keys(m map[string][]string) []string {
	list := []string{"orchestration_events"}
	for key := range m {
		list = append(list, key)
	}
	return list
}

func TestSalvage_Log(t *testing.T) {
	path := fresh(t)
	if err := command("die", path).Run(); err == nil {
		t.Fatal("the writer did not die")
	}
	t.Run("Kept", func(t *testing.T) {
		result, target := salvaged(t, path)
		if n := number(t, target, "SELECT count(*) FROM user_notes"); n != 2 || !result.Complete {
			t.Errorf("%d rows, %+v", n, result)
		}
	})
	t.Run("DamagedHeader", func(t *testing.T) {
		dir := t.TempDir()
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := copyFile(path+suffix, filepath.Join(dir, "ocr.db"+suffix)); err != nil {
				t.Fatal(err)
			}
		}
		overwrite(t, filepath.Join(dir, "ocr.db"), 0, noise(headerSize))
		_, target := salvaged(t, filepath.Join(dir, "ocr.db"))
		if n := number(t, target, "SELECT count(*) FROM user_notes"); n != 2 {
			t.Errorf("%d rows", n)
		}
	})
	t.Run("Lost", func(t *testing.T) {
		if err := os.Remove(path + "-wal"); err != nil {
			t.Fatal(err)
		}
		result, target := salvaged(t, path)
		if n := number(t, target, "SELECT count(*) FROM user_notes"); n != 0 || len(result.Notes) == 0 {
			t.Errorf("%d rows, %+v", n, result)
		}
	})
}

func TestSalvage_Refuses(t *testing.T) {
	source := fresh(t)
	refuse := func(t *testing.T, source, target string, kind Kind) {
		t.Helper()
		_, err := Salvage(t.Context(), source, target)
		wantKind(t, err, kind)
	}
	t.Run("TargetExists", func(t *testing.T) {
		for _, suffix := range []string{"", "-wal", "-journal"} {
			target := filepath.Join(t.TempDir(), "saved.db")
			if err := os.WriteFile(target+suffix, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Salvage(t.Context(), source, target); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %v", suffix, err)
			}
			if text, err := os.ReadFile(target + suffix); string(text) != "mine" || err != nil {
				t.Errorf("%s: %q %v", suffix, text, err)
			}
		}
	})
	t.Run("NoFolder", func(t *testing.T) {
		_, err := Salvage(t.Context(), source, filepath.Join(t.TempDir(), "none", "saved.db"))
		if !errors.Is(err, fs.ErrNotExist) || KindOf(err) != "" {
			t.Error(err)
		}
	})
	t.Run("SameFile", func(t *testing.T) {
		if _, err := Salvage(t.Context(), source, source); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
	})
	t.Run("NoSource", func(t *testing.T) {
		refuse(t, filepath.Join(t.TempDir(), "ocr.db"), filepath.Join(t.TempDir(), "saved.db"), KindNoDatabase)
	})
	t.Run("Noise", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ocr.db")
		for _, size := range []int{1, 100, page, 10*page + 17} {
			if err := os.WriteFile(path, noise(size), 0o644); err != nil {
				t.Fatal(err)
			}
			refuse(t, path, filepath.Join(t.TempDir(), "saved.db"), KindCorrupt)
		}
	})
	t.Run("OtherProgram", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "other.db")
		raw(t, path, "CREATE TABLE songs (id INTEGER PRIMARY KEY, title TEXT)", "INSERT INTO songs (title) VALUES ('x')")
		refuse(t, path, filepath.Join(t.TempDir(), "saved.db"), KindForeignDatabase)
	})
}

// TestSalvage_PageSize: without a header the size of a page shows in the pages.
func TestSalvage_PageSize(t *testing.T) {
	for size := 512; size <= 65536; size *= 2 {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			path := fresh(t)
			raw(t, path, "PRAGMA journal_mode = DELETE", fmt.Sprintf("PRAGMA page_size = %d", size), "VACUUM", `
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO user_notes (target_type, target_id, content) SELECT 'round', i, hex(randomblob(i * 3)) FROM n`)
			want := content(t, path)["user_notes"]
			overwrite(t, path, 0, noise(headerSize))
			result, target := salvaged(t, path)
			if got := content(t, target)["user_notes"]; strings.Join(got, "") != strings.Join(want, "") || !result.Complete {
				t.Errorf("%d of %d rows, %+v", len(got), len(want), result.Notes)
			}
		})
	}
}

// TestSalvage_AnyPage ruins each page in turn: it always ends, without an
// internal fault and without an invented row.
func TestSalvage_AnyPage(t *testing.T) {
	original := fresh(t)
	raw(t, original, `
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300)
INSERT INTO user_notes (target_type, target_id, content) SELECT 'round', i, 'note ' || i FROM n`)
	want := map[string]bool{}
	for _, row := range content(t, original)["user_notes"] {
		want[row] = true
	}
	bytesOf, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(bytesOf)/page; n += 3 {
		t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ocr.db")
			damaged := bytes.Clone(bytesOf)
			copy(damaged[n*page:(n+1)*page], noise(page))
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			_, target := salvaged(t, path)
			for _, row := range content(t, target)["user_notes"] {
				if !want[row] {
					t.Errorf("a row that was never there: %.200s", row)
				}
			}
		})
	}
}
