package lifecycle_test

import (
	"testing"
	"time"

	"ocr/internal/lifecycle"
)

// resumeAs takes the round over as the process uid, empty for none.
func (d *desk) resumeAs(token, uid string) lifecycle.ResumeResult {
	d.t.Helper()
	got, err := lifecycle.Resume(d.t.Context(), d.as(token, uid).Caller, lifecycle.ResumeRequest{SessionID: "s", Now: true})
	must(d.t, err)
	return got
}

// wantFence holds that the token moves the session and nobody else does.
func (d *desk) wantFence(token, phase string) {
	d.t.Helper()
	d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.as("", "").advance("s", phase); return err })
	moved, err := d.as(token, "").advance("s", phase)
	must(d.t, err)
	if moved.Next.Kind != lifecycle.NextAdvance {
		d.t.Errorf("the holder is told %+v", moved.Next)
	}
	d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.as("", "").advance("s", phase); return err })
}

// TestLeaseOfAnEndedProcess: what resume grants holds, also where the caller's
// own process has ended, or was one that is dead by now.
func TestLeaseOfAnEndedProcess(t *testing.T) {
	for name, row := range map[string]string{
		"Dead":      "pid = 2000000000",
		"Ended":     "finished_at = datetime('now'), exit_code = 0",
		"FoundDead": "finished_at = datetime('now', '-1 minute'), exit_code = -3, pid = NULL",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", "review")
			d.process("u1", "s", hourAgo)
			d.sql("UPDATE command_executions SET started_at = " + hourAgo + ", " + row)
			got := d.resumeAs("", "u1")
			if !got.Resumed || !got.LeaseUntil.After(time.Now()) {
				t.Fatalf("%+v", got)
			}
			d.wantFence(got.LeaseToken, "change-context")
		})
	}
	// It ends its process, and goes on by the token.
	t.Run("EndsAndGoesOn", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u1", "tok", "datetime('now', '-12 minutes')")
		d.process("u1", "s", hourAgo)
		d.sql("UPDATE command_executions SET finished_at = datetime('now', '-10 minutes'), exit_code = 0")
		_, err := d.as("tok", "").advance("s", "change-context")
		must(t, err)
		d.wantFence("tok", "analysis")
	})
}

// TestLeaseOfAMap: the holder of a run finishes it, and the next run has
// attempts of its own.
func TestLeaseOfAMap(t *testing.T) {
	t.Run("Finish", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "map")
		token := d.resumeAs("", "").LeaseToken
		holder := d.as(token, "")
		holder.walk("s", "synthesis")
		for range 2 { // as after a crash
			_, err := holder.completeMap("s", aMap)
			must(t, err)
		}
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.as("", "").finish("s", false); return err })
		if next := holder.status("s").Next; next.Kind != lifecycle.NextFinish {
			t.Errorf("%+v", next)
		}
		_, err := holder.finish("s", false)
		must(t, err)
	})
	t.Run("NextRun", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "map")
		token := d.resumeAs("", "").LeaseToken
		must(t, advanceTo(d.as(token, ""), &told{id: "s", workflow: "map"}, "map-context", 2))
		if got := d.resumeAs("", ""); got.Attempts != 1 || got.AttemptsLeft != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// TestLostLeaseComesFirst: who lost the round is behind, so that its next step
// is illegal as well; it must learn that it lost the round.
func TestLostLeaseComesFirst(t *testing.T) {
	d := newDesk(t)
	d.begin("s", "review")
	d.walk("s", "reviews")
	d.lease("s", "u1", "old", "datetime('now', '-3 hours')")
	d.lease("s", "u2", "new", "datetime('now')")
	d.refused(lifecycle.Invariant, lifecycle.KindLeaseLost, func() error { _, err := d.as("old", "").advance("s", "change-context"); return err })
	d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.as("", "").advance("s", "synthesis"); return err })
}

// TestSweepLeavesUnreadableLeases: a sweep does not close what finish refuses
// to close because nobody can tell whether the lease is over.
func TestSweepLeavesUnreadableLeases(t *testing.T) {
	d := newDesk(t)
	d.completed("s", "review")
	d.lease("s", "u1", "tok", "'yesterday'")
	d.refused(lifecycle.Invariant, lifecycle.KindLeaseUnreadable, func() error { _, err := d.finish("s", false); return err })
	if got := d.sweep(false); len(got.Closed) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestBreakingKeepsTheLost: who shows a lease that is lost breaks none, and
// learns that it is lost.
func TestBreakingKeepsTheLost(t *testing.T) {
	d := newDesk(t)
	d.begin("s", "review")
	d.lease("s", "u1", "tok", "datetime('now')")
	d.refused(lifecycle.Invariant, lifecycle.KindLeaseLost, func() error {
		_, err := lifecycle.Finish(t.Context(), d.as("wrong", "").Caller, lifecycle.FinishRequest{SessionID: "s", Abort: true, BreakLease: true})
		return err
	})
}
