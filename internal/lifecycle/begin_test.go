package lifecycle_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"ocr/internal/lifecycle"
	"ocr/internal/project"
)

func TestBegin(t *testing.T) {
	t.Parallel()
	begin := func(d *desk, id, workflow string) (lifecycle.BeginResult, error) {
		return lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: id, Branch: "b", Workflow: workflow})
	}
	again := func(d *desk, id, workflow string) func() error {
		return func() error { _, err := begin(d, id, workflow); return err }
	}

	t.Run("OK", func(t *testing.T) {
		for workflow, phase := range map[string]string{"review": "context", "map": "map-context"} {
			d := emptyDesk(t)
			got, err := begin(d, "s", workflow)
			must(t, err)
			want := lifecycle.BeginResult{SessionID: "s", Workflow: workflow, Round: 1, MapRun: 1, Phase: phase, Completeness: "open_no_artifact", Branch: "b", Changed: true}
			want.Outlook = got.Outlook
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			row := d.rows("SELECT branch, status, workflow_type, current_phase, phase_number, current_round, current_map_run, session_dir FROM sessions")
			dir := filepath.Join(d.Project.Sessions(), "s")
			if want := fmt.Sprintf("b|active|%s|%s|1|1|1|%s\n", workflow, phase, dir); row != want {
				t.Errorf("row %q, want %q", row, want)
			}
			event := d.rows("SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events")
			if want := fmt.Sprintf("session_created|%s|1|1|<nil>\n", phase); event != want {
				t.Errorf("event %q, want %q", event, want)
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				t.Errorf("no folder: %v", err)
			}
		}
	})

	t.Run("OtherFolder", func(t *testing.T) {
		d := newDesk(t)
		dir := filepath.Join(t.TempDir(), "elsewhere", "s")
		_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review", Dir: dir})
		must(t, err)
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
		if got := d.rows("SELECT session_dir FROM sessions"); got != dir+"\n" {
			t.Errorf("session_dir %q", got)
		}
		if entries, err := os.ReadDir(d.Project.Sessions()); err != nil || len(entries) != 0 {
			t.Errorf("%v %v", entries, err)
		}
	})

	t.Run("NextRound", func(t *testing.T) {
		for _, close := range []bool{false, true} {
			d := newDesk(t)
			d.completed("s", "review")
			if close {
				_, err := d.finish("s", false)
				must(t, err)
			}
			got, err := begin(d, "s", "review")
			must(t, err)
			if got.Round != 2 || got.Phase != "context" || got.Completeness != "open_no_artifact" {
				t.Errorf("%+v", got)
			}
			if last := d.rows("SELECT event_type, phase, phase_number, round FROM orchestration_events ORDER BY id DESC LIMIT 1"); last != "round_started|context|1|2\n" {
				t.Errorf("event %q", last)
			}
		}
	})

	t.Run("NextRun", func(t *testing.T) {
		d := newDesk(t)
		d.completed("m", "map")
		_, err := d.finish("m", false)
		must(t, err)
		got, err := begin(d, "m", "map")
		must(t, err)
		if got.MapRun != 2 || got.Round != 1 || got.Phase != "map-context" {
			t.Errorf("%+v", got)
		}
		if last := d.rows("SELECT event_type, phase, round, metadata FROM orchestration_events ORDER BY id DESC LIMIT 1"); last != "round_started|map-context|1|{\"map_run\":2}\n" {
			t.Errorf("event %q", last)
		}
	})

	t.Run("SameRoundAfterAbort", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.walk("s", "reviews")
		_, err := d.finish("s", true)
		must(t, err)
		got, err := begin(d, "s", "review")
		must(t, err)
		log := d.log("s")
		if got.Round != 1 || log[len(log)-1] != "session_resumed" {
			t.Errorf("%+v, log %v", got, log)
		}
	})

	t.Run("Unfinished", func(t *testing.T) {
		for _, workflow := range []string{"review", "map"} {
			d := newDesk(t)
			d.begin("s", workflow)
			d.refused(lifecycle.Invariant, lifecycle.KindUnfinished, again(d, "s", workflow))
		}
	})

	t.Run("WrongWorkflow", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.refused(lifecycle.Usage, lifecycle.KindWrongWorkflow, again(d, "s", "map"))
	})

	t.Run("BadID", func(t *testing.T) {
		for _, d := range []*desk{newDesk(t), emptyDesk(t)} {
			var bad *project.BadID
			if err := d.unchanged(again(d, "../x", "review")); !errors.As(err, &bad) || bad.Suggestion == "" {
				t.Errorf("%v", err)
			}
		}
	})

	t.Run("StoredOddID", func(t *testing.T) {
		// Rows of other programs stay within reach whatever they are called.
		d := newDesk(t)
		d.begin("good", "review")
		d.sql(`INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('-a/b', 'b', 'review', '.ocr/sessions/-a-b');
			INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('-a/b', 'session_created', 'context', 1, 1)`)
		d.walk("-a/b", "synthesis")
		_, err := d.completeRound("-a/b", approve)
		must(t, err)
		got, err := begin(d, "-a/b", "review")
		must(t, err)
		if got.Round != 2 {
			t.Errorf("%+v", got)
		}
	})

	t.Run("FailsInTheMiddle", func(t *testing.T) {
		d := newDesk(t)
		d.begin("other", "review")
		d.breakAt("INSERT ON orchestration_events")
		_ = d.unchanged(again(d, "s", "review"))
	})

	t.Run("ReopenFailsInTheMiddle", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		d.breakAt("UPDATE ON sessions")
		_ = d.unchanged(again(d, "s", "review"))
	})

	t.Run("CommitFails", func(t *testing.T) {
		d := newDesk(t)
		d.begin("other", "review")
		d.breakCommit("session_created")
		_ = d.unchanged(again(d, "s", "review"))
	})

	t.Run("NoFolder", func(t *testing.T) {
		d := newDesk(t)
		d.begin("other", "review")
		must(t, os.WriteFile(filepath.Join(d.Project.Sessions(), "s"), []byte("mine"), 0o600))
		_ = d.unchanged(again(d, "s", "review"))
	})

	t.Run("FolderStays", func(t *testing.T) {
		// A folder that was there before a failure is not the verb's to remove.
		d := newDesk(t)
		d.begin("other", "review")
		must(t, os.Mkdir(filepath.Join(d.Project.Sessions(), "s"), 0o755))
		d.breakCommit("session_created")
		_ = d.unchanged(again(d, "s", "review"))
	})
}

func TestBeginLink(t *testing.T) {
	t.Parallel()
	link := func(d *desk, id, uid string) (lifecycle.BeginResult, error) {
		return lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: id, Branch: "b", Workflow: "review", DashboardUID: uid})
	}
	desk := func(t *testing.T) *desk {
		d := newDesk(t)
		d.begin("first", "review")
		d.sql(`INSERT INTO command_executions (uid, command) VALUES ('u1', 'ocr review'), ('u2', 'ocr review');
			INSERT INTO command_executions (uid, command, workflow_id, last_heartbeat_at) VALUES ('u3', 'ocr review', 'first', '2026-01-01 00:00:00')`)
		return d
	}
	const linked = "SELECT uid FROM command_executions WHERE workflow_id = 's' AND last_heartbeat_at IS NOT NULL"

	t.Run("ByFlag", func(t *testing.T) {
		d := desk(t)
		d.ExecutionUID = "u2"
		got, err := link(d, "s", "u1")
		must(t, err)
		if rows := d.rows(linked); rows != "u1\n" || got.Completeness != "in_flight" {
			t.Errorf("linked %q, %+v", rows, got)
		}
	})
	t.Run("ByEnvironment", func(t *testing.T) {
		d := desk(t)
		d.ExecutionUID = "u2"
		_, err := link(d, "s", "")
		must(t, err)
		if rows := d.rows(linked); rows != "u2\n" {
			t.Errorf("linked %q", rows)
		}
	})
	t.Run("OnlyWhereEmpty", func(t *testing.T) {
		d := desk(t)
		_, err := link(d, "s", "u3")
		must(t, err)
		if rows := d.rows("SELECT workflow_id, last_heartbeat_at FROM command_executions WHERE uid = 'u3'"); rows != "first|2026-01-01 00:00:00\n" {
			t.Errorf("row %q", rows)
		}
	})
	t.Run("NoSuchRow", func(t *testing.T) {
		d := desk(t)
		_, err := link(d, "s", "nope")
		must(t, err)
		if !d.noticed("nope") || !slices.Equal(d.log("s"), []string{"session_created"}) {
			t.Errorf("notices %q, log %v", d.notices, d.log("s"))
		}
	})
	t.Run("LinkFails", func(t *testing.T) {
		// The savepoint loses the link alone, not the session.
		d := desk(t)
		d.breakAt("UPDATE ON command_executions")
		got, err := link(d, "s", "u1")
		must(t, err)
		if !d.noticed("u1") || got.Completeness != "open_no_artifact" || d.rows(linked) != "" {
			t.Errorf("notices %q, %+v", d.notices, got)
		}
	})
}
