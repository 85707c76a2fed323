package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	roundPayload = `{"schema_version":1,"verdict":"REQUEST CHANGES","reviewers":[{"type":"principal","instance":1,"findings":[
		{"title":"Totals are rounded twice","category":"blocker","severity":"high","summary":"s","file_path":"cart.go"}]}]}`
	mapPayload = `{"schema_version":1,"sections":[{"section_number":1,"title":"Cart","files":[
		{"file_path":"cart.go","role":"core","lines_added":3,"lines_deleted":1}]}]}`
)

// writingVerbs are projects, each made by SQL on one with an empty database,
// and a command that writes in them.
var writingVerbs = map[string]struct {
	workflow string // of session s, if there is one
	phase    string // that it stands in
	sql      string
	files    map[string]string // below .ocr
	line     string
	stdin    string
}{
	"Begin":       {line: "state begin --session-id n --branch b --workflow-type review"},
	"BeginLinked": {sql: "INSERT INTO command_executions (command, uid) VALUES ('review', 'u')", line: "state begin --session-id n --branch b --workflow-type review --dashboard-uid u"},
	"Reopen":      {workflow: "map", phase: "topology", sql: aborted, line: "state begin --session-id s --branch b --workflow-type map"},
	"Advance":     {workflow: "review", phase: "context", line: "state advance --phase change-context"},
	"NextRun":     {workflow: "map", phase: "topology", line: "state advance --phase map-context --current-map-run 2"},
	"CompleteRound": {workflow: "review", phase: "synthesis", stdin: roundPayload, line: "state complete-round --stdin", sql: `
		INSERT INTO review_rounds (id, session_id, round_number) VALUES (1, 's', 1);
		INSERT INTO reviewer_outputs (id, round_id, reviewer_type, file_path) VALUES (1, 1, 'principal', 'x'), (2, 1, 'gone', 'x');
		INSERT INTO review_findings (id, reviewer_output_id, title, severity, file_path) VALUES
			(1, 1, 'Totals are rounded twice', 'high', 'cart.go'), (2, 1, 'Gone by now', 'low', NULL), (3, 2, 'Gone by now', 'low', NULL)`},
	"CompleteMap": {workflow: "map", phase: "synthesis", stdin: mapPayload, line: "state complete-map --stdin", sql: `
		INSERT INTO map_runs (id, session_id, run_number) VALUES (1, 's', 1);
		INSERT INTO map_sections (id, map_run_id, section_number, title) VALUES (1, 1, 1, 'x'), (2, 1, 2, 'gone');
		INSERT INTO map_files (id, section_id, file_path) VALUES (1, 1, 'cart.go'), (2, 1, 'gone.go'), (3, 2, 'gone.go')`},
	"Finish": {workflow: "review", phase: "synthesis", line: "state finish --session-id s", sql: `
		INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('s', 'round_completed', 'synthesis', 7, 1);
		INSERT INTO command_executions (command, uid, workflow_id) VALUES ('session-instance', 'u', 's'), ('session-instance', NULL, 's')`},
	"Abort":     {workflow: "review", phase: "reviews", line: "state finish --abort"},
	"Resume":    {workflow: "review", phase: "reviews", sql: longAgo, line: "state resume"},
	"Exhausted": {workflow: "review", phase: "reviews", sql: leased + leased + longAgo, line: "state resume"},
	"Reconcile": {workflow: "review", phase: "reviews", line: "state reconcile", sql: `
		INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, created_at)
		VALUES ('s', 'round_started', 'context', 1, 2, '2020-01-01 00:00:00')`},
	"SweepSession": {workflow: "review", phase: "reviews", sql: longAgo, line: "state sweep"},
	"SweepProcesses": {workflow: "review", phase: "reviews", line: "state sweep", sql: `
		INSERT INTO command_executions (command, uid, workflow_id, pid, started_at, last_heartbeat_at)
		VALUES ('review', 'dead', 's', 2147483646, datetime('now', '-1 hour'), datetime('now', '-1 hour')), ('session-instance', 'with', 's', NULL, '2026-01-01', NULL)`},
	"StartInstance": {workflow: "review", phase: "reviews", line: "session start-instance --vendor v --phase reviews"},
	"Beat":          {workflow: "review", phase: "reviews", sql: instance, line: "session beat u"},
	"Bind":          {workflow: "review", phase: "reviews", sql: instance, line: "session bind-vendor-id u v"},
	"EndInstance":   {workflow: "review", phase: "reviews", sql: instance, line: "session end-instance u --note n"},
	"Note":          {workflow: "review", phase: "reviews", sql: instance + "UPDATE command_executions SET finished_at = datetime('now'), exit_code = 0;", line: "session end-instance u --note n"},
	"SyncRound": {line: "state sync", files: map[string]string{
		"sessions/r/rounds/round-1/round-meta.json": roundPayload, "sessions/r/rounds/round-1/final.md": "f\n"}},
	"SyncMap": {line: "state sync", files: map[string]string{
		"sessions/m/map/runs/run-1/map-meta.json": mapPayload, "sessions/m/map/runs/run-1/map.md": "m\n"}},
	"SyncProcesses": {line: "state sync", files: map[string]string{"data/.cache/command-history.jsonl": `{"v":1,"uid":"a","command":"review",` +
		`"exit_code":0,"started_at":"2026-01-01 00:00:00","finished_at":"2026-01-01 00:05:00","is_detached":0,"event":"finish","writer":"dashboard"}` + "\n"}},
	"Prune": {workflow: "review", phase: "reviews", line: "db prune --keep-sessions 0 --include-user-data --force", sql: aborted + `
		INSERT INTO review_rounds (id, session_id, round_number) VALUES (1, 's', 1);
		INSERT INTO reviewer_outputs (id, round_id, reviewer_type, file_path) VALUES (1, 1, 'principal', 'x');
		INSERT INTO review_findings (id, reviewer_output_id, title, severity) VALUES (1, 1, 'Totals are rounded twice', 'high');
		INSERT INTO user_finding_progress (finding_id) VALUES (1);
		INSERT INTO user_round_progress (round_id) VALUES (1);
		INSERT INTO user_notes (target_type, target_id, content) VALUES ('finding', '1', 'n');
		INSERT INTO chat_conversations (id, session_id, target_type, target_id) VALUES ('c', 's', 'review_round', 1);
		INSERT INTO chat_messages (conversation_id, role, content) VALUES ('c', 'user', 'm');
		INSERT INTO map_runs (id, session_id, run_number) VALUES (1, 's', 1);
		INSERT INTO map_sections (id, map_run_id, section_number, title) VALUES (1, 1, 1, 'x');
		INSERT INTO map_files (id, section_id, file_path) VALUES (1, 1, 'cart.go');
		INSERT INTO user_file_progress (map_file_id) VALUES (1);
		INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('s', 'context', 'c', 'x');`},
	"DeleteOrphans": {line: "db doctor --fix --force", sql: `
		INSERT INTO review_rounds (id, session_id, round_number) VALUES (1, 'gone', 1);
		INSERT INTO reviewer_outputs (id, round_id, reviewer_type, file_path) VALUES (1, 1, 'principal', 'x');
		INSERT INTO review_findings (id, reviewer_output_id, title, severity) VALUES (1, 1, 'Totals are rounded twice', 'high');
		INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('gone', 'context', 'c', 'x')`},
}

const (
	aborted = `INSERT INTO orchestration_events (session_id, event_type) VALUES ('s', 'session_aborted');
		UPDATE sessions SET status = 'closed', current_phase = 'complete' WHERE id = 's';`
	longAgo = "INSERT INTO orchestration_events (session_id, event_type, created_at) VALUES ('s', 'phase_transition', '2020-01-01 00:00:00');"
	leased  = `INSERT INTO orchestration_events (session_id, event_type, metadata, created_at)
		VALUES ('s', 'session_resumed', '{"kind":"forward_resume","round":1}', '2020-01-01 00:00:00');`
	instance = "INSERT INTO command_executions (command, uid, workflow_id) VALUES ('session-instance', 'u', 's');"
)

// TestNotRecorded lets a trigger of somebody else skip what every writing verb
// inserts, updates or deletes, table by table: the verb either does all that
// it does without that trigger, or fails, names the trigger and changes
// nothing.
func TestNotRecorded(t *testing.T) {
	base := t.TempDir()
	empty := filepath.Join(base, "empty")
	must(t, os.Mkdir(empty, 0o755))
	mustCall(t, empty, "init")
	mustCall(t, empty, "state", "sync")
	database := filepath.Join(".ocr", "data", "ocr.db")
	for name, verb := range writingVerbs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(base, name)
			must(t, os.CopyFS(dir, os.DirFS(empty)))
			for path, text := range verb.files {
				path = filepath.Join(dir, ".ocr", filepath.FromSlash(path))
				must(t, os.MkdirAll(filepath.Dir(path), 0o755))
				must(t, os.WriteFile(path, []byte(text), 0o644))
			}
			pool := openFile(t, filepath.Join(dir, database))
			if verb.workflow != "" {
				execute(t, pool, fmt.Sprintf(`INSERT INTO sessions (id, branch, workflow_type, current_phase, session_dir) VALUES ('s', 'b', '%[1]s', '%[2]s', '%[3]s');
					INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('s', 'session_created', '%[2]s', 1, 1)`,
					verb.workflow, verb.phase, filepath.Join(dir, ".ocr", "sessions", "s")))
			}
			execute(t, pool, verb.sql)
			before := everyTable(t, pool)
			var tables []string
			for table := range before {
				tables = append(tables, table)
			}
			must(t, pool.Close())

			run := func(trigger string) (answer, map[string]string, string) {
				copied := filepath.Join(dir, "copy")
				must(t, os.RemoveAll(copied))
				must(t, os.CopyFS(filepath.Join(copied, ".ocr"), os.DirFS(filepath.Join(dir, ".ocr"))))
				pool := openFile(t, filepath.Join(copied, database))
				defer func() { must(t, pool.Close()) }()
				execute(t, pool, trigger)
				files := content(t, filepath.Join(copied, ".ocr", "sessions"))
				got := callWith(copied, verb.stdin, append(strings.Fields(verb.line), "--json")...)
				if got.code != exitOK && content(t, filepath.Join(copied, ".ocr", "sessions")) != files {
					t.Errorf("%s: files changed", trigger)
				}
				return got, everyTable(t, pool), trigger
			}
			usual, done, _ := run("")
			ways, record := touches(tables)
			_, noted, _ := run(record)
			if usual.code != exitOK || fmt.Sprint(done) == fmt.Sprint(before) {
				t.Fatalf("without any trigger: %+v", usual)
			}
			elsewhere, refused := "", 0
			for _, at := range ways {
				ignore := fmt.Sprintf("CREATE TRIGGER their_own%d BEFORE %s BEGIN SELECT RAISE(IGNORE); END;", len(elsewhere), at)
				if !strings.Contains(noted["touched"], at+"\n") {
					elsewhere += ignore
					continue
				}
				got, after, trigger := run(ignore)
				if got.code == exitOK {
					if fmt.Sprint(after) != fmt.Sprint(done) {
						t.Errorf("%s: success, and not everything was stored:\n%v\nnot\n%v", trigger, after, done)
					}
					continue
				}
				refused++
				_, table, _ := strings.Cut(at, " ON ")
				var failed struct{ Error failure }
				must(t, json.Unmarshal([]byte(got.stdout), &failed))
				if f := failed.Error; f.Code != exitEnvironment || f.Kind != "not_recorded" || !strings.HasPrefix(f.Hint, "ocr doctor ") ||
					!strings.Contains(f.Message, "their_own") || !strings.Contains(f.Message, "(on "+table+")") {
					t.Errorf("%s: %s", trigger, got.stdout)
				}
				if fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("%s: the failure left something behind:\n%v\nnot\n%v", trigger, after, before)
				}
			}
			if got, after, _ := run(elsewhere); got.code != exitOK || fmt.Sprint(after) != fmt.Sprint(done) {
				t.Errorf("triggers where it writes nothing: %+v", got)
			}
			if refused == 0 {
				t.Error("no trigger was in the way")
			}
		})
	}
}

// touches are all ways in which rows change, and triggers that note, in a
// table of that name, which of them happen.
func touches(tables []string) (all []string, record string) {
	record = "CREATE TABLE touched (at TEXT NOT NULL);"
	for _, table := range tables {
		for _, what := range []string{"INSERT", "UPDATE", "DELETE"} {
			at := what + " ON " + table
			all = append(all, at)
			record += fmt.Sprintf("CREATE TRIGGER note_%s_%s BEFORE %s BEGIN INSERT INTO touched VALUES ('%s'); END;", what, table, at, at)
		}
	}
	return all, record
}

// TestUpgradeNotRecorded is the same for the ledgers of the schema.
func TestUpgradeNotRecorded(t *testing.T) {
	steps, err := filepath.Glob("../../db/schema/*.up.sql")
	must(t, err)
	last := len(steps) - 1
	for ledger, version := range map[string]int{"schema_version": 13, "schema_migrations": last} {
		dir := filepath.Join(t.TempDir(), "p")
		must(t, os.Mkdir(dir, 0o755))
		mustCall(t, dir, "init")
		pool := openFile(t, filepath.Join(dir, ".ocr", "data", "ocr.db"))
		for _, step := range steps[:version] {
			body, err := os.ReadFile(step)
			must(t, err)
			execute(t, pool, string(body))
		}
		if version == last {
			execute(t, pool, "CREATE TABLE schema_migrations (version INTEGER NOT NULL, dirty INTEGER NOT NULL)")
			execute(t, pool, fmt.Sprintf("INSERT INTO schema_migrations VALUES (%d, 0)", last))
		}
		before := everyTable(t, pool)
		for _, what := range []string{"INSERT", "DELETE"} {
			if ledger == "schema_version" && what == "DELETE" {
				continue
			}
			execute(t, pool, fmt.Sprintf("CREATE TRIGGER their_own BEFORE %s ON %s BEGIN SELECT RAISE(IGNORE); END", what, ledger))
			got := call(dir, "db", "migrate", "--json")
			if got.code != exitEnvironment || !strings.Contains(got.stdout, `"kind":"not_recorded"`) || !strings.Contains(got.stdout, "their_own (on "+ledger+")") {
				t.Errorf("%s on %s: %+v", what, ledger, got)
			}
			if after := everyTable(t, pool); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("%s on %s: the failure left something behind", what, ledger)
			}
			execute(t, pool, "DROP TRIGGER their_own")
		}
		must(t, pool.Close())
		mustCall(t, dir, "db", "migrate")
	}
}

// openFile opens a database as another program would, foreign keys off.
func openFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(5000)"}
	pool, err := sql.Open("sqlite", address.String())
	must(t, err)
	return pool
}

func execute(t *testing.T, pool *sql.DB, statement string) {
	t.Helper()
	_, err := pool.Exec(statement)
	must(t, err)
}

// changing are parts of a row that no two runs have in common.
var changing = regexp.MustCompile(`20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\dZ?|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"token":"[A-Z2-7]+"|/\S+/(copy/)?\.ocr/`)

// everyTable is the rows of each table, without what no two runs have in
// common.
func everyTable(t *testing.T, pool *sql.DB) map[string]string {
	t.Helper()
	names, err := queryText(pool, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	must(t, err)
	found := map[string]string{}
	for _, table := range strings.Fields(names) {
		rows, err := queryText(pool, "SELECT * FROM "+table)
		must(t, err)
		found[table] = changing.ReplaceAllString(rows, "*")
	}
	return found
}
