package lifecycle_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"ocr/internal/lifecycle"
)

func (d *desk) sweep(dryRun bool, ended ...int64) lifecycle.SweepResult {
	d.t.Helper()
	got, err := lifecycle.Sweep(d.t.Context(), d.Caller, lifecycle.SweepRequest{OlderThanDays: 7, DryRun: dryRun, Ended: ended})
	must(d.t, err)
	return got
}

// bytes is the database file, which a closed store has put everything into.
func (d *desk) bytes() string {
	d.t.Helper()
	text, err := os.ReadFile(d.Project.Database())
	must(d.t, err)
	info, err := os.Stat(d.Project.Database())
	must(d.t, err)
	return info.ModTime().String() + string(text)
}

const eightDays, sixDays = 8 * 86400, 6 * 86400

func TestSweep(t *testing.T) {
	t.Run("Stale", func(t *testing.T) {
		d := newDesk(t)
		for i, at := range formats(eightDays) {
			d.begin(fmt.Sprintf("old%d", i), "review")
			d.event(fmt.Sprintf("old%d", i), "phase_transition", "NULL", at)
		}
		for i, at := range append(formats(sixDays), "datetime('now', '+1 year')") {
			d.begin(fmt.Sprintf("young%d", i), "map")
			d.event(fmt.Sprintf("young%d", i), "phase_transition", "NULL", at)
		}
		for i, at := range []string{"'yesterday'", "''", "'0'", "'2026-99-99'", "'now'"} {
			d.begin(fmt.Sprintf("odd%d", i), "review")
			d.event(fmt.Sprintf("odd%d", i), "phase_transition", "NULL", at)
		}
		plan := d.sweep(true)
		if len(d.rows("SELECT 1 FROM sessions WHERE status = 'closed'")) != 0 {
			t.Error("the dry run closed something")
		}
		got := d.sweep(false)
		if fmt.Sprint(plan) != fmt.Sprint(got) {
			t.Errorf("the plan was %v, the deed %v", plan, got)
		}
		if len(got.Closed) != 4 || len(got.Unreadable) != 5 {
			t.Errorf("%d closed, %d unreadable: %v", len(got.Closed), len(got.Unreadable), got)
		}
		for _, s := range got.Closed {
			if !strings.HasPrefix(s.SessionID, "old") || s.Action != lifecycle.SweepStale {
				t.Errorf("closed %+v", s)
			}
		}
		if got.Unreadable[0] != (lifecycle.SweptSession{SessionID: "odd0", LastAt: "yesterday"}) {
			t.Errorf("%+v", got.Unreadable[0])
		}
		if closed := d.rows("SELECT id, current_phase, phase_number FROM sessions WHERE status = 'closed' ORDER BY id"); closed != "old0|complete|1\nold1|complete|1\nold2|complete|1\nold3|complete|1\n" {
			t.Errorf("closed %q", closed)
		}
		event := d.rows("SELECT phase, phase_number, round, metadata FROM orchestration_events WHERE session_id = 'old0' AND event_type = 'session_auto_closed_stale'")
		if want := `complete|<nil>|<nil>|{"reason":"idle","threshold_seconds":604800}` + "\n"; event != want {
			t.Errorf("event %q, want %q", event, want)
		}
		before := d.bytes()
		if again := d.sweep(false); len(again.Closed) != 0 || len(again.Unreadable) != 5 || d.bytes() != before {
			t.Errorf("again: %v", again)
		}
	})

	t.Run("LastEventDecides", func(t *testing.T) {
		d := newDesk(t)
		d.begin("worked-on", "review")
		d.event("worked-on", "phase_transition", "NULL", "datetime('now', '-30 days')")
		d.event("worked-on", "phase_transition", "NULL", "datetime('now')")
		d.begin("left", "review")
		d.event("left", "phase_transition", "NULL", "datetime('now')")
		d.event("left", "phase_transition", "NULL", "datetime('now', '-30 days')")
		got := d.sweep(false)
		if len(got.Closed) != 1 || got.Closed[0].SessionID != "left" {
			t.Errorf("%v", got)
		}
	})

	t.Run("EmptyLog", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.sql("INSERT INTO sessions (id, branch, workflow_type, session_dir, updated_at) VALUES ('old', 'b', 'review', 'x', '2020-01-01 00:00:00'), ('young', 'b', 'review', 'x', datetime('now')), ('odd', 'b', 'review', 'x', 'never')")
		got := d.sweep(false)
		if len(got.Closed) != 1 || got.Closed[0].SessionID != "old" || len(got.Unreadable) != 1 || got.Unreadable[0].SessionID != "odd" {
			t.Errorf("%v", got)
		}
	})

	t.Run("UnfinishedProcess", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.event("s", "phase_transition", "NULL", "datetime('now', '-30 days')")
		d.process("u", "s", "datetime('now', '-30 days')")
		if got := d.sweep(false); len(got.Closed) != 0 {
			t.Errorf("%v", got)
		}
		if got := d.sweep(true, 99); len(got.Closed) != 0 {
			t.Errorf("%v", got)
		}
		if got := d.sweep(true, 99, 1); len(got.Closed) != 1 {
			t.Errorf("with its process ended: %v", got)
		}
	})

	t.Run("Finish", func(t *testing.T) {
		d := newDesk(t)
		d.completed("r", "review")
		d.completed("m", "map")
		d.completed("busy", "review")
		d.process("u", "busy", "datetime('now', '-1 hour')")
		d.completed("next", "review")
		d.begin("next", "review")
		got := d.sweep(false)
		if len(got.Closed) != 2 || got.Closed[0].SessionID != "m" || got.Closed[1].SessionID != "r" || got.Closed[0].Action != lifecycle.SweepFinish {
			t.Errorf("%v", got)
		}
		if states := d.rows("SELECT session_id, completeness_state FROM session_completeness ORDER BY session_id"); states != "busy|in_flight\nm|complete\nnext|open_no_artifact\nr|complete\n" {
			t.Errorf("states %q", states)
		}
		if event := d.rows("SELECT event_type, phase, phase_number, round FROM orchestration_events WHERE session_id = 'r' ORDER BY id DESC LIMIT 1"); event != "session_closed|complete|8|1\n" {
			t.Errorf("event %q", event)
		}
		d.sql("UPDATE command_executions SET finished_at = datetime('now'), exit_code = 0")
		if got := d.sweep(false); len(got.Closed) != 1 || got.Closed[0].SessionID != "busy" {
			t.Errorf("%v", got)
		}
	})

	t.Run("StaleAndComplete", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		d.event("s", "session_resumed", foreignLease, "datetime('now', '-30 days')")
		d.sweep(false)
		if log := d.log("s"); log[len(log)-1] != "session_closed" {
			t.Errorf("log %v", log)
		}
	})

	t.Run("NoDatabase", func(t *testing.T) {
		d := newDesk(t)
		must(t, os.RemoveAll(d.Project.Data()))
		for _, dryRun := range []bool{true, false} {
			if got := d.sweep(dryRun); got.Closed == nil || len(got.Closed) != 0 {
				t.Errorf("%v", got)
			}
		}
		if _, err := os.Stat(d.Project.Database()); err == nil {
			t.Error("it made a database")
		}
	})

	t.Run("Race", func(t *testing.T) {
		d := newDesk(t)
		for i := range 6 {
			d.begin(fmt.Sprint("s", i), "review")
			d.event(fmt.Sprint("s", i), "phase_transition", "NULL", "datetime('now', '-30 days')")
		}
		var all sync.WaitGroup
		var lock sync.Mutex
		var closed []string
		for range 4 {
			all.Go(func() {
				caller := d.Caller
				caller.Notice = func(string) {}
				got, err := lifecycle.Sweep(t.Context(), caller, lifecycle.SweepRequest{OlderThanDays: 7})
				lock.Lock()
				defer lock.Unlock()
				if err != nil {
					t.Error(err)
				}
				for _, s := range got.Closed {
					closed = append(closed, s.SessionID)
				}
			})
		}
		all.Wait()
		slices.Sort(closed)
		if fmt.Sprint(closed) != "[s0 s1 s2 s3 s4 s5]" {
			t.Errorf("closed %v", closed)
		}
		if events := d.rows("SELECT count(*) FROM orchestration_events WHERE event_type = 'session_auto_closed_stale'"); events != "6\n" {
			t.Errorf("%s closing events", events)
		}
	})
}

func TestFinishIfComplete(t *testing.T) {
	finish := func(d *desk) lifecycle.FinishResult {
		d.t.Helper()
		got, err := lifecycle.Finish(d.t.Context(), d.Caller, lifecycle.FinishRequest{SessionID: "s", IfComplete: true})
		must(d.t, err)
		return got
	}

	t.Run("OK", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		if got := finish(d); !got.Changed || got.Open != "" || got.Completeness != "complete" {
			t.Errorf("%+v", got)
		}
		if got := finish(d); got.Changed || got.Open != "" {
			t.Errorf("again: %+v", got)
		}
	})

	t.Run("NotComplete", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		before := d.all()
		if got := finish(d); got.Changed || got.Open != lifecycle.OpenIncomplete {
			t.Errorf("%+v", got)
		}
		if d.all() != before {
			t.Error("it changed something")
		}
	})

	t.Run("StillRunning", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		d.process("u", "s", "datetime('now', '-30 days')")
		before := d.all()
		if got := finish(d); got.Changed || got.Open != lifecycle.OpenRunning {
			t.Errorf("%+v", got)
		}
		if d.all() != before {
			t.Error("it changed something")
		}
		d.ExecutionUID = "u"
		if got := finish(d); !got.Changed || got.Ended != 0 {
			t.Errorf("as that process: %+v", got)
		}
	})

	t.Run("WithoutIt", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		d.process("u", "s", "datetime('now')")
		got, err := d.finish("s", false)
		must(t, err)
		if got.Ended != 1 {
			t.Errorf("%+v", got)
		}
		d.logged("u", "cancel", -4)
	})
}
