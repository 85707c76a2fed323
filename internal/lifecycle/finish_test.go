package lifecycle_test

import (
	"reflect"
	"testing"

	"ocr/internal/lifecycle"
)

func TestFinish(t *testing.T) {
	t.Parallel()
	finish := func(d *desk, abort bool) func() error {
		return func() error { _, err := d.finish("s", abort); return err }
	}
	const lastEvent = "SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events ORDER BY id DESC LIMIT 1"
	const row = "SELECT status, current_phase, phase_number, current_round, current_map_run FROM sessions"

	t.Run("OK", func(t *testing.T) {
		for workflow, number := range map[string]string{"review": "8", "map": "6"} {
			d := newDesk(t)
			d.completed("s", workflow)
			got, err := d.finish("s", false)
			must(t, err)
			if want := (lifecycle.FinishResult{SessionID: "s", Changed: true, Completeness: "complete", Outlook: got.Outlook}); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if event := d.rows(lastEvent); event != "session_closed|complete|"+number+"|1|<nil>\n" {
				t.Errorf("event %q", event)
			}
			if row := d.rows(row); row != "closed|complete|"+number+"|1|1\n" {
				t.Errorf("row %q", row)
			}
		}
	})

	t.Run("Again", func(t *testing.T) {
		for _, abort := range []bool{false, true} {
			d := newDesk(t)
			d.completed("s", "review")
			must(t, finish(d, false)())
			before := d.all()
			got, err := d.finish("s", abort)
			must(t, err)
			if got.Changed || got.Completeness != "complete" || !d.noticed("closed already") || d.all() != before {
				t.Errorf("%+v, notices %q", got, d.notices)
			}
		}
	})

	t.Run("Abort", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.walk("s", "analysis")
		got, err := d.finish("s", true)
		must(t, err)
		if !got.Changed || got.Completeness != "closed_without_artifact" {
			t.Errorf("%+v", got)
		}
		if event := d.rows(lastEvent); event != "session_aborted|analysis|3|1|<nil>\n" {
			t.Errorf("event %q", event)
		}
		if row := d.rows(row); row != "closed|complete|3|1|1\n" {
			t.Errorf("row %q", row)
		}
	})

	t.Run("EndsProcesses", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		d.begin("other", "review")
		d.sql(`INSERT INTO command_executions (uid, command, workflow_id, pid, notes, exit_code, finished_at) VALUES
			('running', 'session-instance', 's', 11, NULL, NULL, NULL), ('noted', 'session-instance', 's', 12, 'mine', NULL, NULL),
			('ended', 'session-instance', 's', 13, NULL, 0, '2026-01-01 00:00:00'), ('caller', 'ocr review', 's', 14, NULL, NULL, NULL),
			('foreign', 'session-instance', 'other', 15, NULL, NULL, NULL);
			INSERT INTO command_executions (command, workflow_id, pid) VALUES ('nameless', 's', 16)`)
		d.ExecutionUID = "caller"
		got, err := d.finish("s", false)
		must(t, err)
		if got.Ended != 3 {
			t.Errorf("%+v", got)
		}
		rows := d.rows("SELECT uid, exit_code, pid, finished_at IS NOT NULL, notes IS NOT NULL, notes LIKE 'mine' || char(10) || '_%' FROM command_executions ORDER BY id")
		if want := "running|-4|<nil>|1|1|0\nnoted|-4|<nil>|1|1|1\nended|0|13|1|0|<nil>\ncaller|<nil>|14|0|0|<nil>\nforeign|<nil>|15|0|0|<nil>\n<nil>|-4|<nil>|1|1|0\n"; rows != want {
			t.Errorf("processes\n%swant\n%s", rows, want)
		}
	})

	t.Run("Unfinished", func(t *testing.T) {
		for workflow, event := range map[string]string{"review": "round_completed", "map": "map_completed"} {
			d := newDesk(t)
			d.begin("s", workflow)
			d.walk("s", "synthesis")
			no := d.refused(lifecycle.Invariant, lifecycle.KindUnfinished, finish(d, false))
			if want := `session "s" is not finished: ` + map[string]string{"review": "round", "map": "run"}[workflow] + " 1 has no " + event + " event (it is in phase synthesis)"; no.Message != want {
				t.Errorf("message %q, want %q", no.Message, want)
			}
		}
	})

	t.Run("NextRoundOpen", func(t *testing.T) {
		// The result of the round before does not close this one.
		d := newDesk(t)
		d.completed("s", "review")
		d.begin("s", "review")
		d.refused(lifecycle.Invariant, lifecycle.KindUnfinished, finish(d, false))
		d.sql("UPDATE sessions SET current_round = 1")
		d.refused(lifecycle.Invariant, lifecycle.KindUnfinished, finish(d, false))
	})

	t.Run("OldAbort", func(t *testing.T) {
		// Neither does a reason from before it was opened again.
		d := newDesk(t)
		d.begin("s", "review")
		must(t, finish(d, true)())
		d.begin("s", "review")
		d.refused(lifecycle.Invariant, lifecycle.KindUnfinished, finish(d, false))
	})

	t.Run("FailsInTheMiddle", func(t *testing.T) {
		for _, statement := range []string{"UPDATE ON sessions", "UPDATE ON command_executions"} {
			for _, abort := range []bool{false, true} {
				d := newDesk(t)
				d.completed("s", "review")
				d.sql("INSERT INTO command_executions (uid, command, workflow_id) VALUES ('u', 'ocr review', 's')")
				d.breakAt(statement)
				_ = d.unchanged(finish(d, abort))
			}
		}
	})

	t.Run("CommitFails", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		d.breakCommit("session_closed")
		_ = d.unchanged(finish(d, false))
	})
}
