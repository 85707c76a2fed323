package db

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// seeds are rows of every table, each from the version that brings the table
// or the column, with NULLs and with values that no program should have
// stored. Times are in every form that writers use.
var seeds = []struct {
	from, to  int
	statement string
}{
	{1, 99, `INSERT INTO sessions (id, branch, status, workflow_type, current_phase, phase_number, current_round, current_map_run, started_at, updated_at, session_dir) VALUES
		('r-done', 'main', 'closed', 'review', 'complete', 8, 2, 1, '2026-01-01 10:00:00', '2026-01-02T10:00:00.123Z', '.ocr/sessions/r-done'),
		('m-open', 'fe/at', 'active', 'map', 'topology', 2, 1, 3, '2026-01-01T10:00:00+02:00', 'never', '/gone/m-open'),
		('od''d "id" ü', '', 'active', 'review', '?', -1, 1, 1, '', '', '')`},
	{1, 99, `INSERT INTO orchestration_events (id, session_id, event_type, phase, phase_number, round, metadata, created_at) VALUES
		(1, 'r-done', 'session_created', 'context', 1, 1, NULL, '2026-01-01 10:00:00'),
		(7, 'r-done', 'round_completed', 'synthesis', 7, 2, '{"verdict":"APPROVE"}', '2026-01-02T10:00:00Z'),
		(8, 'm-open', 'session_created', NULL, NULL, NULL, 'no json', 'yesterday'),
		(90, 'm-open', 'map_completed', 'synthesis', 5, 2, x'00ff', '2026-01-03 10:00:00')`},
	{1, 11, `INSERT INTO orchestration_events (id, session_id, event_type) VALUES (100, 'm-open', 'a_type_of_old')`},
	{1, 99, `INSERT INTO review_rounds (id, session_id, round_number, verdict, blocker_count, suggestion_count, should_fix_count, final_md_path, parsed_at) VALUES
		(1, 'r-done', 1, NULL, NULL, NULL, NULL, NULL, NULL), (5, 'r-done', 2, 'APPROVE', 0, 3, 'many', 'f.md', '2026-01-02 10:00:00')`},
	{1, 99, `INSERT INTO reviewer_outputs (id, round_id, reviewer_type, instance_number, file_path, finding_count, parsed_at) VALUES
		(1, 5, 'principal', 1, 'a.md', 2, NULL), (2, 5, 'quality', 2, '', NULL, 'x')`},
	{1, 99, `INSERT INTO review_findings (id, reviewer_output_id, title, severity, file_path, line_start, line_end, summary, is_blocker, parsed_at) VALUES
		(1, 1, 'Totals', 'high', 'cart.go', 3, NULL, NULL, 1, NULL), (9, 2, '', 'info', NULL, NULL, NULL, 'line' || char(10) || 'line', 0, '')`},
	{1, 99, `INSERT INTO markdown_artifacts (id, session_id, artifact_type, round_number, file_path, content, parsed_at) VALUES
		(1, 'r-done', 'final', 2, 'final.md', 'text', '2026-01-02 10:00:00'), (2, 'r-done', 'context', NULL, 'context.md', 'first', ''),
		(4, 'm-open', 'map', 1, 'map.md', '', 'x')`},
	{1, 13, `INSERT INTO markdown_artifacts (id, session_id, artifact_type, round_number, file_path, content) VALUES
		(10, 'r-done', 'context', NULL, 'context.md', 'second'), (11, 'r-done', 'context', NULL, 'context.md', 'third')`},
	{1, 99, `INSERT INTO map_runs (id, session_id, run_number, file_count, map_md_path, parsed_at) VALUES (1, 'm-open', 1, NULL, NULL, NULL), (3, 'm-open', 2, 7, 'm', 'p')`},
	{1, 99, `INSERT INTO map_sections (id, map_run_id, section_number, title, description, file_count, display_order) VALUES (1, 3, 1, 'One', NULL, NULL, 0), (2, 3, 2, 'Two', 'd', 4, 5)`},
	{1, 99, `INSERT INTO map_files (id, section_id, file_path, role, lines_added, lines_deleted, display_order) VALUES (1, 2, 'a.go', NULL, NULL, NULL, 0), (4, 2, 'b.go', 'core', 3, 4, 1)`},
	{1, 99, `INSERT INTO user_file_progress (id, map_file_id, is_reviewed, reviewed_at) VALUES (1, 1, 0, NULL), (2, 4, 1, '2026-01-05 10:00:00')`},
	{1, 99, `INSERT INTO user_finding_progress (id, finding_id, status, updated_at) VALUES (1, 1, 'wont_fix', 'x'), (2, 9, 'read', '2026-01-05 10:00:00')`},
	{1, 99, `INSERT INTO user_notes (id, target_type, target_id, content, created_at, updated_at) VALUES (1, 'session', 'r-done', 'note', 'a', 'b'), (3, 'finding', '1', '', '', '')`},
	{1, 99, `INSERT INTO command_executions (id, command, args, exit_code, started_at, finished_at, output) VALUES
		(1, 'review', '["a"]', 0, '2026-01-01 10:00:00', '2026-01-01 11:00:00', 'out'), (2, 'map', NULL, NULL, 'x', NULL, NULL), (30, '', '', -4, '', '', x'0001')`},
	{2, 99, `INSERT INTO chat_conversations (id, session_id, target_type, target_id, claude_session_id, status, created_at, last_active_at) VALUES
		('c1', 'r-done', 'review_round', 5, NULL, 'active', 'a', 'b'), ('c2', 'm-open', 'map_run', 3, 'x', 'expired', '', '')`},
	{2, 99, `INSERT INTO chat_messages (id, conversation_id, role, content, created_at) VALUES (1, 'c1', 'user', 'q', 'a'), (5, 'c1', 'assistant', '', '')`},
	{2, 99, `INSERT INTO user_round_progress (id, round_id, status, updated_at) VALUES (1, 1, 'dismissed', 'x'), (2, 5, 'needs_review', 'y')`},
	{3, 99, `UPDATE command_executions SET pid = id * 1000 WHERE id < 30`},
	{4, 99, `UPDATE command_executions SET is_detached = 1 WHERE id = 2`},
	{6, 99, `UPDATE review_rounds SET source = 'orchestrator', reviewer_count = 2, total_finding_count = NULL WHERE id = 5`},
	{7, 99, `UPDATE review_findings SET category = 'blocker' WHERE id = 1`},
	{8, 99, `UPDATE map_runs SET source = 'x', section_count = 2 WHERE id = 3`},
	{9, 99, `UPDATE command_executions SET uid = 'u-' || id WHERE id < 30`},
	{10, 10, `INSERT INTO agent_sessions (id, workflow_id, vendor, vendor_session_id, persona, instance_index, name, resolved_model, phase, status, pid, started_at, last_heartbeat_at, ended_at, exit_code, notes) VALUES
		('a-done', 'r-done', 'v', 'vs', 'principal', 1, 'n', 'm', 'reviews', 'done', 5, '2026-01-01 10:00:01', '2026-01-01 10:30:00', '2026-01-01 10:40:00', 0, 'note'),
		('a-dead', 'r-done', 'v', NULL, NULL, NULL, NULL, NULL, NULL, 'crashed', NULL, '2026-01-01 10:00:02', '2026-01-01 10:31:00', NULL, NULL, NULL),
		('a-code', 'r-done', 'v', NULL, 'p', NULL, NULL, NULL, 'analysis', 'crashed', 6, '2026-01-01 10:00:03', '2026-01-01 10:32:00', NULL, 137, NULL),
		('a-stop', 'm-open', 'v', NULL, 'p', 0, NULL, NULL, NULL, 'cancelled', 7, '2026-01-01 10:00:04', '2026-01-01 10:33:00', '2026-01-01 10:43:00', 130, ''),
		('a-lost', 'm-open', 'v', NULL, NULL, 3, NULL, NULL, NULL, 'orphaned', 8, '2026-01-01 10:00:05', '2026-01-01 10:34:00', NULL, NULL, NULL),
		('a-runs', 'm-open', 'v', NULL, 'p', 2, NULL, NULL, NULL, 'running', 9, '2026-01-01 10:00:06', '2026-01-01 10:35:00', NULL, NULL, NULL),
		('u-2', 'm-open', 'v', NULL, 'p', 2, NULL, NULL, NULL, 'spawning', 9, '2026-01-01 10:00:07', '2026-01-01 10:36:00', NULL, NULL, NULL)`},
	{11, 99, `UPDATE command_executions SET workflow_id = 'r-done', vendor = 'v', vendor_session_id = 's', persona = 'p', instance_index = 0, name = 'n', resolved_model = 'm', last_heartbeat_at = '2026-01-01T10:00:00.5Z', notes = 'a' || char(10) || 'b' WHERE id = 2`},
	{11, 12, `UPDATE command_executions SET parent_id = 1 WHERE id = 2`},
}

// fastDir is a folder in memory where there is one: tests that open hundreds
// of files would else wait for the disk most of the time.
func fastDir(t testing.TB) string {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "ocr-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// oldFile makes a database as a program of an earlier version left it, with
// rows in every table.
func oldFile(t testing.TB, version int) string {
	t.Helper()
	path := filepath.Join(fastDir(t), "ocr.db")
	must(t, os.WriteFile(path, oldBytes(t, version), 0o644))
	return path
}

var oldFiles sync.Map

func oldBytes(t testing.TB, version int) []byte {
	t.Helper()
	if body, made := oldFiles.Load(version); made {
		return body.([]byte)
	}
	path := filepath.Join(fastDir(t), "made.db")
	pool, err := sql.Open("sqlite", mustAddress(path))
	must(t, err)
	pool.SetMaxOpenConns(1)
	run := func(statement string) {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatalf("version %d: %s: %v", version, statement, err)
		}
	}
	run("PRAGMA foreign_keys = OFF")
	for step := 1; step <= version; step++ {
		body, err := stepSQL(step)
		must(t, err)
		run(body)
		if step > SharedLatest {
			run("DROP TABLE IF EXISTS schema_migrations")
			run(ledgerSQL)
			run(fmt.Sprintf("INSERT INTO schema_migrations VALUES (%d, 0)", step))
		}
		// Rows are as old as their table: later rules have not refused them.
		for _, seed := range seeds {
			if seed.from == step && version <= seed.to {
				run(seed.statement)
			}
		}
	}
	must(t, pool.Close())
	body, err := os.ReadFile(path)
	must(t, err)
	oldFiles.Store(version, body)
	return body
}

// rowsOf is every row of every table, each value as SQL writes it.
type rowsOf map[string][]map[string]string

func readContent(t testing.TB, path string) rowsOf {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path))
	must(t, err)
	defer pool.Close()
	conn, err := pool.Conn(context.Background())
	must(t, err)
	defer conn.Close()
	tables, err := tableNames(context.Background(), conn)
	must(t, err)
	all := rowsOf{}
	for _, table := range tables {
		all[table] = nil
		columns, err := names(context.Background(), conn, "SELECT name FROM pragma_table_xinfo('"+table+"')")
		must(t, err)
		quoted := make([]string, len(columns))
		for i, column := range columns {
			quoted[i] = "quote(" + quoteName(column) + ")"
		}
		rows, err := conn.QueryContext(context.Background(), "SELECT "+strings.Join(quoted, ", ")+" FROM "+quoteName(table)+" ORDER BY 1")
		must(t, err)
		for rows.Next() {
			values := make([]string, len(columns))
			targets := make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			must(t, rows.Scan(targets...))
			row := map[string]string{}
			for i, column := range columns {
				row[column] = values[i]
			}
			all[table] = append(all[table], row)
		}
		must(t, rows.Err())
		must(t, rows.Close())
	}
	return all
}

// wantKept compares an upgraded file with what it held before: every row of
// every table, with every column that is left, the differences apart that the
// upgrade is for.
func wantKept(t testing.TB, before, after rowsOf) {
	t.Helper()
	for table, rows := range before {
		now := after[table]
		switch table {
		case "schema_version", "schema_migrations":
			continue
		case "agent_sessions":
			if _, there := after[table]; there {
				t.Error("agent_sessions is still there")
			}
			continue
		case "command_executions":
			now = slices.DeleteFunc(slices.Clone(now), func(row map[string]string) bool { return strings.HasPrefix(row["uid"], "'a-") })
		case "markdown_artifacts":
			newest := map[string]map[string]string{}
			for _, row := range rows {
				key := row["session_id"] + row["artifact_type"] + row["round_number"] + row["file_path"]
				if last := newest[key]; last == nil || len(row["id"]) > len(last["id"]) || len(row["id"]) == len(last["id"]) && row["id"] > last["id"] {
					newest[key] = row
				}
			}
			rows = slices.Collect(maps.Values(newest))
		}
		if len(now) != len(rows) {
			t.Errorf("%s has %d rows, had %d", table, len(now), len(rows))
		}
		for _, row := range rows {
			if !slices.ContainsFunc(now, func(other map[string]string) bool {
				for column, value := range row {
					if left, there := other[column]; there && left != value {
						return false
					}
				}
				return true
			}) {
				t.Errorf("%s has lost the row %v", table, row)
			}
		}
	}
}

// wantUpgraded holds a file to the schema and the ledgers of this program.
func wantUpgraded(t testing.TB, path string) {
	t.Helper()
	for query, want := range map[string]int{
		"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'": 1,
		"SELECT count(*) FROM schema_migrations":                                   1,
		"SELECT max(version) FROM schema_migrations WHERE dirty = 0":               Latest(),
		"SELECT count(*) FROM schema_version WHERE version BETWEEN 1 AND 14":       SharedLatest,
		"SELECT count(*) FROM schema_version":                                      SharedLatest,
	} {
		if got := number(t, path, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	if got, want := shapeOf(t, path), wholeShape(t); !slices.Equal(got, want) {
		t.Errorf("the schema is\n%v\nwant\n%v", got, want)
	}
}

func shapeOf(t testing.TB, path string) []string {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path))
	must(t, err)
	defer pool.Close()
	conn, err := pool.Conn(context.Background())
	must(t, err)
	defer conn.Close()
	found, err := readShape(context.Background(), conn)
	must(t, err)
	return partNames(found)
}

func wholeShape(t testing.TB) []string {
	t.Helper()
	h, err := embeddedHistory()
	must(t, err)
	return partNames(h[len(h)-1])
}

func partNames(s shape) []string {
	var list []string
	for p := range s {
		list = append(list, p.String())
	}
	slices.Sort(list)
	return list
}

// wantSnapshot holds a snapshot to be whole and to have the rows of before.
func wantSnapshot(t testing.TB, snapshot string, version int, before rowsOf) {
	t.Helper()
	if got := number(t, snapshot, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"); got != 1 {
		t.Errorf("%s is damaged", snapshot)
	}
	if got := number(t, snapshot, "SELECT max(version) FROM schema_version"); got != min(version, SharedLatest) {
		t.Errorf("%s is at version %d, want %d", snapshot, got, version)
	}
	if !equalContent(readContent(t, snapshot), before) {
		t.Errorf("%s has other rows than the file had", snapshot)
	}
}

func equalContent(a, b rowsOf) bool {
	return maps.EqualFunc(a, b, func(x, y []map[string]string) bool {
		return slices.EqualFunc(x, y, maps.Equal[map[string]string, map[string]string])
	})
}

// snapshots lists the names of the snapshots beside a file, and whatever
// passing file was left.
func snapshots(t testing.TB, path string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, entry := range entries {
		if rest, found := strings.CutPrefix(entry.Name(), filepath.Base(path)); found && (strings.HasPrefix(rest, snapshotMark) || strings.HasPrefix(rest, ".partial")) {
			list = append(list, strings.TrimPrefix(rest, snapshotMark))
		}
	}
	return list
}
