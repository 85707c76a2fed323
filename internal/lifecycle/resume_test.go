package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ocr/internal/lifecycle"
)

func (d *desk) resume(id string) (lifecycle.ResumeResult, error) {
	return lifecycle.Resume(d.t.Context(), owned(d.Caller, "me"), lifecycle.ResumeRequest{SessionID: id, Now: true})
}

// event appends an event as another program would; at is SQL for its time.
func (d *desk) event(id, eventType, metadata, at string) {
	d.t.Helper()
	d.sql(fmt.Sprintf("INSERT INTO orchestration_events (session_id, event_type, metadata, created_at) VALUES ('%s', '%s', %s, %s)",
		id, eventType, metadata, at))
}

// process records an unfinished instance; heartbeat is SQL for its last one.
func (d *desk) process(uid, session, heartbeat string) {
	d.t.Helper()
	d.sql(fmt.Sprintf("INSERT INTO command_executions (command, uid, workflow_id, name, last_heartbeat_at) VALUES ('session-instance', '%s', '%s', 'n', %s)",
		uid, session, heartbeat))
}

// lease appends a lease as resume writes it, taken at a time given as SQL.
func (d *desk) lease(id, owner, token, at string) {
	d.t.Helper()
	d.event(id, "session_resumed", fmt.Sprintf(`'{"kind":"forward_resume","round":1,"owner":"%s","token":"%s","lease_seconds":1800}'`, owner, token), at)
}

const hourAgo = "datetime('now', '-1 hour')"

const foreignLease = `'{"kind":"forward_resume","round":1}'`

// formats are the ways in which writers store a time, as SQL for one that lies
// so many seconds back.
func formats(seconds int) []string {
	return []string{
		fmt.Sprintf("datetime('now', '-%d seconds')", seconds),
		fmt.Sprintf("strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', 'now', '-%d seconds')", seconds),
		fmt.Sprintf("strftime('%%Y-%%m-%%dT%%H:%%M:%%S+02:00', 'now', '+2 hours', '-%d seconds')", seconds),
		fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%S-11:30', 'now', '-690 minutes', '-%d seconds')", seconds),
	}
}

// logged holds the last line of the recovery log to a process that ended.
func (d *desk) logged(uid, event string, code int64) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.Project.Data(), ".cache", "command-history.jsonl"))
	must(d.t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var entry struct {
		UID, Event string
		ExitCode   int64 `json:"exit_code"`
	}
	must(d.t, json.Unmarshal([]byte(lines[len(lines)-1]), &entry))
	if entry.UID != uid || entry.Event != event || entry.ExitCode != code {
		d.t.Errorf("logged %+v, want %s %s %d", entry, uid, event, code)
	}
}

func TestResume(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.walk("s", "reviews")
		row := d.rows("SELECT * FROM sessions")
		got, err := d.resume("s")
		must(t, err)
		if !got.Resumed || got.Closed || got.Reason != "" || got.Phase != "reviews" || got.PhaseNumber != 4 || got.Attempts != 1 || got.AttemptsLeft != 1 {
			t.Errorf("%+v", got)
		}
		if want := reviewPhases[4:]; !slices.Equal(got.Remaining, want) {
			t.Errorf("remaining %v, want %v", got.Remaining, want)
		}
		if left := time.Until(got.LeaseUntil); left < 29*time.Minute || left > 30*time.Minute {
			t.Errorf("the lease ends in %v", left)
		}
		event := d.rows("SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events ORDER BY id DESC LIMIT 1")
		if want := fmt.Sprintf(`session_resumed|<nil>|<nil>|<nil>|{"kind":"forward_resume","round":1,"owner":"me","token":"%s","lease_seconds":1800}`+"\n", got.LeaseToken); event != want || len(got.LeaseToken) < 20 {
			t.Errorf("event %q, want %q", event, want)
		}
		if now := d.rows("SELECT * FROM sessions"); now != row {
			t.Errorf("the row changed: %s, was %s", now, row)
		}
	})

	t.Run("LaterRound", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		d.event("s", "session_resumed", foreignLease, "datetime('now')")
		d.begin("s", "review")
		got, err := d.resume("s")
		must(t, err)
		if !got.Resumed || got.Round != 2 || got.AttemptsLeft != 1 {
			t.Errorf("%+v", got)
		}
		if metadata := d.rows("SELECT json_extract(metadata, '$.round') FROM orchestration_events ORDER BY id DESC LIMIT 1"); metadata != "2\n" {
			t.Errorf("round %q", metadata)
		}
	})

	t.Run("Map", func(t *testing.T) {
		d := newDesk(t)
		d.completed("m", "map")
		d.begin("m", "map")
		d.lease("m", "gone", "t", hourAgo)
		got, err := d.resume("m")
		must(t, err)
		if !got.Resumed || got.MapRun != 2 || got.AttemptsLeft != 0 {
			t.Errorf("%+v", got)
		}
		status, err := lifecycle.GetStatus(t.Context(), d.Caller, "m")
		must(t, err)
		if status.Next.Kind != lifecycle.NextAbortOrFresh {
			t.Errorf("status counts otherwise: %+v", status.Next)
		}
	})

	t.Run("MapCompletedEndsLeases", func(t *testing.T) {
		d := newDesk(t)
		d.begin("m", "map")
		d.walk("m", "synthesis")
		for range d.Runtime.ForwardResumeMaxAttempts {
			d.event("m", "session_resumed", `'{"kind":"forward_resume","round":1,"owner":"other","token":"t","lease_seconds":1800}'`, "datetime('now')")
		}
		_, err := d.resume("m")
		if err == nil {
			t.Fatal("the lease of somebody else does not hold")
		}
		// Another program completes the run, and opens the next in the row only.
		d.sql(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('m', 'map_completed', 'synthesis', 5, 1);
			UPDATE sessions SET current_map_run = 2, current_phase = 'map-context', phase_number = 1 WHERE id = 'm'`)
		got, err := d.resume("m")
		must(t, err)
		if !got.Resumed || got.MapRun != 2 || got.AttemptsLeft != d.Runtime.ForwardResumeMaxAttempts-1 {
			t.Errorf("%+v", got)
		}
	})

	t.Run("LeaseHeld", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		got, err := d.resume("s")
		must(t, err)
		no := d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.resume("s"); return err })
		var details struct{ Until, Owner *string }
		text, err := json.Marshal(no.Details)
		must(t, err)
		must(t, json.Unmarshal(text, &details))
		if details.Owner == nil || *details.Owner != "me" || details.Until == nil || *details.Until != got.LeaseUntil.Format(time.RFC3339) {
			t.Errorf("details %s, want until %v", text, got.LeaseUntil)
		}
	})

	t.Run("ForeignLeaseHeld", func(t *testing.T) {
		for _, at := range formats(60) {
			d := newDesk(t)
			d.begin("s", "review")
			d.event("s", "session_resumed", foreignLease, at)
			no := d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.resume("s"); return err })
			if text, _ := json.Marshal(no.Details); !strings.Contains(string(text), `"owner":null`) {
				t.Errorf("%s: details %s", at, text)
			}
		}
	})

	t.Run("LeaseOver", func(t *testing.T) {
		for _, at := range formats(1801) {
			d := newDesk(t)
			d.begin("s", "review")
			d.event("s", "session_resumed", foreignLease, at)
			got, err := d.resume("s")
			must(t, err)
			if !got.Resumed || got.AttemptsLeft != 0 {
				t.Errorf("%s: %+v", at, got)
			}
		}
	})

	t.Run("LeaseRenewed", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.event("s", "session_resumed", foreignLease, "datetime('now', '-3 hours')")
		_, err := d.advance("s", "change-context")
		must(t, err)
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.resume("s"); return err })
	})

	t.Run("LeaseBeforeReopening", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "gone", "t", hourAgo)
		_, err := d.finish("s", true)
		must(t, err)
		d.begin("s", "review")
		got, err := d.resume("s")
		must(t, err)
		if !got.Resumed || got.Attempts != 2 {
			t.Errorf("%+v", got)
		}
	})

	t.Run("LeaseUnreadable", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.event("s", "session_resumed", foreignLease, "'yesterday'")
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseUnreadable, func() error { _, err := d.resume("s"); return err })
	})

	t.Run("Exhausted", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.walk("s", "reviews")
		for range 2 {
			d.event("s", "session_resumed", foreignLease, "datetime('now', '-3 hours')")
		}
		got, err := d.resume("s")
		must(t, err)
		if got.Resumed || !got.Closed || got.Reason != lifecycle.ReasonExhausted || got.Attempts != 2 || got.AttemptsLeft != 0 {
			t.Errorf("%+v", got)
		}
		event := d.rows("SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events ORDER BY id DESC LIMIT 1")
		if want := `session_auto_closed_stale|complete|<nil>|<nil>|{"reason":"forward_resume_exhausted","attempts":2}` + "\n"; event != want {
			t.Errorf("event %q, want %q", event, want)
		}
		if state := d.rows("SELECT completeness_state FROM session_completeness"); state != "closed_without_artifact\n" {
			t.Errorf("state %q", state)
		}
		d.refused(lifecycle.Invariant, lifecycle.KindClosed, func() error { _, err := d.resume("s"); return err })
	})

	t.Run("ExhaustedWithStalled", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.process("u", "s", "datetime('now', '-3 hours')")
		d.Runtime.ForwardResumeMaxAttempts = 0
		got, err := d.resume("s")
		must(t, err)
		if !got.Closed {
			t.Errorf("%+v", got)
		}
		if row := d.rows("SELECT exit_code, finished_at IS NULL FROM command_executions"); row != "-4|0\n" {
			t.Errorf("process %q", row)
		}
		d.logged("u", "cancel", -4)
	})

	t.Run("LastAttemptHeld", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		for range 2 {
			d.event("s", "session_resumed", foreignLease, "datetime('now')")
		}
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.resume("s"); return err })
	})

	t.Run("Complete", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		before := d.all()
		got, err := d.resume("s")
		must(t, err)
		if got.Resumed || got.Closed || got.Reason != lifecycle.ReasonComplete || !strings.Contains(got.Next.Text, "ocr state finish --session-id=s") {
			t.Errorf("%+v", got)
		}
		if d.all() != before {
			t.Error("it changed something")
		}
	})

	t.Run("StillRunning", func(t *testing.T) {
		for _, heartbeat := range append(formats(1), "'yesterday'", "datetime('now', '+4 minutes')") {
			d := newDesk(t)
			d.begin("s", "review")
			d.process("u", "s", heartbeat)
			d.refused(lifecycle.Invariant, lifecycle.KindStillRunning, func() error { _, err := d.resume("s"); return err })
		}
	})

	t.Run("Stranded", func(t *testing.T) {
		// One further in the future than clocks differ is no sign of life.
		for _, heartbeat := range append(formats(3600), "NULL", "datetime('now', '+1 day')") {
			d := newDesk(t)
			d.begin("s", "review")
			d.process("u", "s", heartbeat)
			if heartbeat == "NULL" {
				d.sql("UPDATE command_executions SET command = 'utility'")
			}
			got, err := d.resume("s")
			must(t, err)
			if !got.Resumed {
				t.Errorf("%s: %+v", heartbeat, got)
			}
		}
	})

	t.Run("OwnProcess", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.process("u", "s", "datetime('now')")
		d.ExecutionUID = "u"
		got, err := d.resume("")
		must(t, err)
		if !got.Resumed {
			t.Errorf("%+v", got)
		}
	})

	t.Run("Closed", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		_, err := d.finish("s", true)
		must(t, err)
		no := d.refused(lifecycle.Invariant, lifecycle.KindClosed, func() error { _, err := d.resume("s"); return err })
		if !strings.HasPrefix(no.Hint, "ocr state begin --session-id=s ") {
			t.Errorf("hint %q", no.Hint)
		}
	})

	t.Run("NoSession", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.refused(lifecycle.NotFound, lifecycle.KindNoSession, func() error { _, err := d.resume("other"); return err })
	})

	t.Run("Race", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		var all sync.WaitGroup
		var lock sync.Mutex
		won, held := 0, 0
		for range 8 {
			all.Go(func() {
				caller := d.Caller
				caller.Notice = func(string) {}
				got, err := lifecycle.Resume(t.Context(), owned(caller, "me"), lifecycle.ResumeRequest{SessionID: "s", Now: true})
				lock.Lock()
				defer lock.Unlock()
				var no *lifecycle.Error
				switch {
				case err == nil && got.Resumed:
					won++
				case errors.As(err, &no) && no.Kind == lifecycle.KindLeaseHeld:
					held++
				default:
					t.Errorf("%+v %v", got, err)
				}
			})
		}
		all.Wait()
		if won != 1 || held != 7 {
			t.Errorf("%d won, %d were refused", won, held)
		}
	})
}

// owned is the caller under a name.
func owned(c lifecycle.Caller, name string) lifecycle.Caller {
	c.Owner = name
	return c
}

// TestStranded follows a run that stopped half way: nothing throws it back,
// status says how to carry on, and that command works.
func TestStranded(t *testing.T) {
	d := newDesk(t)
	d.begin("s", "review")
	d.walk("s", "reviews")
	text := func() lifecycle.NextAction {
		t.Helper()
		status := d.status("s")
		if status.CurrentPhase != "reviews" {
			t.Errorf("phase %s", status.CurrentPhase)
		}
		return status.Next
	}
	if next := text(); next.Kind != lifecycle.NextForwardResume || !strings.HasSuffix(next.Text, ": ocr state resume --session-id=s") {
		t.Errorf("%+v", next)
	}
	for range 3 {
		if _, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review"}); err == nil {
			t.Error("begin started over")
		}
	}
	d.lease("s", "gone", "old", hourAgo)
	if next := text(); next.Kind != lifecycle.NextForwardResume || *next.AttemptsLeft != 1 || !strings.HasSuffix(next.Text, ": ocr state resume --session-id=s") {
		t.Errorf("%+v", next)
	}
	got, err := d.resume("s")
	must(t, err)
	if next := text(); next.Kind != lifecycle.NextAbortOrFresh || !strings.HasPrefix(next.Text, "me took this round over: leave it alone until ") ||
		!strings.Contains(next.Text, ": ocr state status --session-id=s; if you are me: ") {
		t.Errorf("%+v", next)
	}
	d.Lease, d.LeaseByFlag = got.LeaseToken, true
	if next := text(); next.Kind != lifecycle.NextAdvance || !strings.HasPrefix(next.Text, "this round is yours until ") ||
		!strings.HasSuffix(next.Text, ": ocr state advance --session-id=s --phase aggregation --lease="+got.LeaseToken) {
		t.Errorf("%+v", next)
	}
	d.Lease = "old"
	if next := text(); !strings.HasPrefix(next.Text, "the lease you show is not the newest") || strings.Contains(next.Text, "old") {
		t.Errorf("%+v", next)
	}
	d.Lease = ""
	e := newDesk(t)
	e.begin("s", "review")
	e.walk("s", "reviews")
	e.lease("s", "gone", "1", hourAgo)
	e.lease("s", "gone too", "2", hourAgo)
	if next := e.status("s").Next; next.Kind != lifecycle.NextAbortOrFresh || !strings.Contains(next.Text, "taken over 2 times") {
		t.Errorf("%+v", next)
	}
}
