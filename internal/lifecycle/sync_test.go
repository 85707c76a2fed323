package lifecycle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"ocr/db/gen"
	"ocr/internal/lifecycle"
)

// put writes files below the sessions of a project, by slash path.
func (d *desk) put(files map[string]string) {
	d.t.Helper()
	for name, text := range files {
		path := filepath.Join(d.Project.Sessions(), filepath.FromSlash(name))
		must(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(d.t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func (d *desk) sync() lifecycle.SyncResult {
	d.t.Helper()
	got, err := lifecycle.Sync(d.t.Context(), d.Caller)
	must(d.t, err)
	return got
}

const stateOfSessions = "SELECT id, branch, status, workflow_type, current_phase, phase_number, current_round, current_map_run FROM sessions ORDER BY id"

func TestSync(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		d := newDesk(t)
		d.put(map[string]string{
			"2026-02-03-feat-login/rounds/round-1/final.md":           "done\n",
			"2026-02-04-wip/rounds/round-1/final.md":                  "first\n",
			"2026-02-04-wip/rounds/round-10/reviews/a-1.md":           "second\n",
			"2026-02-05-map/map/runs/run-2/map.md":                    "m\n",
			"2026-02-06-open/map/runs/run-1/map.md":                   "m\n",
			"2026-02-06-open/map/runs/run-3/topology.md":              "t\n",
			"2026-02-07-both/map/runs/run-4/map.md":                   "m\n",
			"2026-02-07-both/rounds/round-1/final.md":                 "f\n",
			"loose #1/context.md":                                     "c\n",
			"deep/a/b/c.json":                                         "{}",
			"none/notes.txt":                                          "no",
			"hidden/.x/a.md":                                          "no",
			"odd/rounds/round-007/final.md":                           "not a round\n",
			"odd/rounds/round-99999999999999999999999999999/final.md": "not a round\n",
		})
		must(t, os.MkdirAll(filepath.Join(d.Project.Sessions(), "empty", "rounds", "round-3"), 0o755))
		must(t, os.WriteFile(filepath.Join(d.Project.Sessions(), "readme.md"), nil, 0o644))
		got := d.sync()
		if len(got.Sessions) != 8 || len(got.Skipped) != 0 {
			t.Errorf("%+v", got)
		}
		want := `2026-02-03-feat-login|feat-login|closed|review|complete|8|1|1
2026-02-04-wip|wip|closed|review|context|1|10|1
2026-02-05-map|map|closed|map|complete|6|1|2
2026-02-06-open|open|closed|map|map-context|1|1|3
2026-02-07-both|both|closed|review|complete|8|1|1
deep|deep|closed|review|context|1|1|1
loose #1|loose #1|closed|review|context|1|1|1
odd|odd|closed|review|context|1|1|1
`
		if rows := d.rows(stateOfSessions); rows != want {
			t.Errorf("sessions\n%swant\n%s", rows, want)
		}
		events := d.rows("SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events WHERE session_id LIKE '2026-02-0[67]%' OR session_id IN ('2026-02-04-wip', '2026-02-06-open') ORDER BY id")
		wantEvents := `session_synced|context|1|<nil>|{"source":"filesystem_backfill","round":10}
session_synced|map-context|1|<nil>|{"source":"filesystem_backfill","map_run":3}
`
		if events != wantEvents {
			t.Errorf("events\n%swant\n%s", events, wantEvents)
		}
		if drift := d.rows("SELECT * FROM session_drift"); drift != "" {
			t.Errorf("drift %s", drift)
		}
		if dir := d.rows("SELECT session_dir FROM sessions WHERE id = 'deep'"); dir != filepath.Join(d.Project.Sessions(), "deep")+"\n" {
			t.Errorf("folder %q", dir)
		}
	})

	t.Run("Ingest", func(t *testing.T) {
		d := newDesk(t)
		d.put(map[string]string{
			"s/context.md":                         "asked\n",
			"s/rounds/round-1/round-meta.json":     changes,
			"s/rounds/round-1/final.md":            "final \xff\n",
			"s/rounds/round-1/reviews/tester-1.md": "r\n",
			"s/rounds/round-2/round-meta.json":     `{"schema_version":1,"verdict":"MAYBE"}`,
			"s/map/runs/run-1/map-meta.json":       aMap,
			"s/map/runs/run-1/map.md":              "m\n",
		})
		d.sync()
		texts := d.rows("SELECT artifact_type, round_number, file_path, content FROM markdown_artifacts ORDER BY file_path")
		want := "context|<nil>|context.md|asked\n\nmap|<nil>|map/runs/run-1/map.md|m\n\n" +
			"final|1|rounds/round-1/final.md|final \uFFFD\n\nreviewer-output|1|rounds/round-1/reviews/tester-1.md|r\n\n"
		if texts != want {
			t.Errorf("texts %q, want %q", texts, want)
		}
		rounds := d.rows("SELECT round_number, verdict, blocker_count, final_md_path, source FROM review_rounds")
		if want := "1|REQUEST CHANGES|1|" + filepath.Join(d.Project.Sessions(), "s", "rounds", "round-1", "final.md") + "|orchestrator\n"; rounds != want {
			t.Errorf("rounds %q, want %q", rounds, want)
		}
		if counts := d.rows("SELECT (SELECT count(*) FROM review_findings), (SELECT count(*) FROM map_runs), (SELECT count(*) FROM map_files)"); counts != "2|1|1\n" {
			t.Errorf("counts %q", counts)
		}
		if !d.noticed(filepath.Join("round-2", "round-meta.json") + " is not stored") {
			t.Errorf("notices %q", d.notices)
		}
		if state := d.rows("SELECT completeness_state FROM session_completeness"); state != "closed_without_artifact\n" {
			t.Errorf("a file on disk made the session %q", state)
		}
	})

	t.Run("KnownStay", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		must(t, os.Mkdir(filepath.Join(d.Project.Sessions(), "elsewhere"), 0o755))
		_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{
			SessionID: "t", Branch: "b", Workflow: "review", Dir: filepath.Join(d.Project.Sessions(), "elsewhere"),
		})
		must(t, err)
		d.put(map[string]string{
			"s/context.md":                     "hello\n",
			"s/rounds/round-1/round-meta.json": approve,
			"s/rounds/round-5/final.md":        "f\n",
			"elsewhere/context.md":             "hello\n",
		})
		before := d.all()
		if got := d.sync(); len(got.Sessions) != 0 {
			t.Errorf("%+v", got)
		}
		if d.all() != before {
			t.Error("it changed something")
		}
	})

	t.Run("Again", func(t *testing.T) {
		d := newDesk(t)
		d.put(map[string]string{"s/context.md": "hello\n", "-bad/context.md": "no\n"})
		d.sync()
		before := d.bytes()
		for range 50 {
			if got := d.sync(); len(got.Sessions) != 0 || len(got.Skipped) != 1 {
				t.Fatalf("%+v", got)
			}
		}
		if d.bytes() != before {
			t.Error("the database changed")
		}
		if texts := d.rows("SELECT count(*) FROM markdown_artifacts"); texts != "1\n" {
			t.Errorf("%s texts", texts)
		}
	})

	t.Run("Reopened", func(t *testing.T) {
		d := newDesk(t)
		d.put(map[string]string{"r/rounds/round-3/final.md": "f\n", "m/map/runs/run-2/map.md": "m\n"})
		d.sync()
		d.begin("r", "review")
		d.begin("m", "map")
		want := "m|m|active|map|map-context|1|1|2\nr|r|active|review|context|1|3|1\n"
		if rows := d.rows(stateOfSessions); rows != want {
			t.Errorf("sessions %q, want %q", rows, want)
		}
	})

	t.Run("HostileNames", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("Windows takes none of these names")
		}
		d := newDesk(t)
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "secret.md"), []byte("secret\n"), 0o644))
		names := []string{"-rf", "a:b", "CON", "dot.", "new\nline", strings.Repeat("x", 201), ".git"}
		for _, name := range names {
			d.put(map[string]string{name + "/context.md": "c\n"})
		}
		must(t, os.Symlink(outside, filepath.Join(d.Project.Sessions(), "link")))
		d.put(map[string]string{"good/context.md": "c\n"})
		must(t, os.Symlink(outside, filepath.Join(d.Project.Sessions(), "good", "rounds")))
		must(t, os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(d.Project.Sessions(), "good", "secret.md")))
		got := d.sync()
		if len(got.Sessions) != 1 || len(got.Skipped) != len(names)+1 {
			t.Errorf("%+v", got)
		}
		if texts := d.rows("SELECT file_path FROM markdown_artifacts"); texts != "context.md\n" {
			t.Errorf("texts %q", texts)
		}
		if !d.noticed("the folder link is passed over") {
			t.Errorf("notices %q", d.notices)
		}
	})

	t.Run("NothingThere", func(t *testing.T) {
		d := newDesk(t)
		must(t, os.RemoveAll(d.Project.Data()))
		must(t, os.RemoveAll(d.Project.Sessions()))
		if got := d.sync(); got.Sessions == nil || len(got.Sessions) != 0 {
			t.Errorf("%+v", got)
		}
		if _, err := os.Stat(d.Project.Database()); err != nil {
			t.Errorf("no database: %v", err)
		}
	})

	t.Run("WholeOrNot", func(t *testing.T) {
		d := newDesk(t)
		d.sync()
		d.put(map[string]string{"s/context.md": "c\n"})
		d.breakAt("INSERT ON markdown_artifacts")
		before := d.all()
		if got := d.sync(); len(got.Sessions) != 0 || len(got.Skipped) != 1 || d.all() != before {
			t.Errorf("%+v, and this is there now:\n%s", got, d.all())
		}
	})

	t.Run("LogWithoutRow", func(t *testing.T) {
		d := newDesk(t)
		d.sql("INSERT INTO orchestration_events (session_id, event_type) VALUES ('lost', 'session_created')")
		d.put(map[string]string{"a/context.md": "c\n", "lost/context.md": "c\n", "z/context.md": "c\n"})
		got := d.sync()
		if len(got.Sessions) != 2 || len(got.Skipped) != 1 || got.Skipped[0].Name != "lost" || !strings.Contains(got.Skipped[0].Reason, "its row is gone") {
			t.Errorf("%+v", got)
		}
		if ids := d.rows("SELECT id FROM sessions ORDER BY id"); ids != "a\nz\n" {
			t.Errorf("sessions %q", ids)
		}
	})

	t.Run("Race", func(t *testing.T) {
		d := newDesk(t)
		for i := range 5 {
			d.put(map[string]string{fmt.Sprintf("s%d/context.md", i): "c\n"})
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				caller := d.Caller
				caller.Notice = func(string) {}
				if _, err := lifecycle.Sync(t.Context(), caller); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if counts := d.rows("SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM orchestration_events), (SELECT count(*) FROM markdown_artifacts)"); counts != "5|5|5\n" {
			t.Errorf("counts %q", counts)
		}
	})

	t.Run("TextOnce", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		pool := d.open()
		defer pool.Close()
		store := func(round any, text string) int64 {
			t.Helper()
			done, err := pool.Exec(gen.MarkdownUpsert, "s", "context", round, "context.md", text, "2026-01-01 00:00:00")
			must(t, err)
			rows, err := done.RowsAffected()
			must(t, err)
			return rows
		}
		for _, round := range []any{nil, 1} {
			if first, again, other := store(round, "a"), store(round, "a"), store(round, "b"); first != 1 || again != 0 || other != 1 {
				t.Errorf("round %v: %d, %d and %d rows written", round, first, again, other)
			}
		}
		if texts := d.rows("SELECT round_number, content FROM markdown_artifacts ORDER BY id"); texts != "<nil>|b\n1|b\n" {
			t.Errorf("texts %q", texts)
		}
	})

	t.Run("RecoveryLog", func(t *testing.T) {
		d := newDesk(t)
		d.put(map[string]string{"s/context.md": "c\n"})
		log := filepath.Join(d.Project.Data(), ".cache", "command-history.jsonl")
		must(t, os.MkdirAll(filepath.Dir(log), 0o755))
		must(t, os.WriteFile(log, []byte(`{"v":1,"uid":"a","db_id":7,"command":"review","args":null,"exit_code":null,"started_at":"2026-01-01 00:00:00","finished_at":null,"is_detached":0,"event":"start","writer":"dashboard"}
no json
{"v":1,"uid":"a","db_id":7,"command":"review","args":null,"exit_code":0,"started_at":"2026-01-01 00:00:00","finished_at":"2026-01-01 00:05:00","is_detached":0,"event":"finish","writer":"dashboard","workflow_id":"s"}
{"v":1,"uid":"b","db_id":8,"command":"map","args":null,"exit_code":null,"started_at":"2026-01-01 00:00:00","finished_at":null,"is_detached":0,"event":"start","writer":"dashboard"}
`), 0o644))
		if got := d.sync(); got.Processes != 1 || got.BadLines != 1 || !d.noticed("1 lines of the log") {
			t.Errorf("%+v, notices %q", got, d.notices)
		}
		if rows := d.rows("SELECT uid, command, exit_code, finished_at, workflow_id FROM command_executions"); rows != "a|review|0|2026-01-01 00:05:00|s\n" {
			t.Errorf("rows %q", rows)
		}
		before := d.bytes()
		if got := d.sync(); got.Processes != 0 || d.bytes() != before {
			t.Errorf("again: %+v", got)
		}
	})
}
