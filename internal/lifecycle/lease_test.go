package lifecycle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ocr/internal/lifecycle"
)

// as is the same desk for a caller that shows a token, or is a process.
func (d *desk) as(token, uid string) *desk {
	other := *d
	other.Lease, other.ExecutionUID, other.Owner = token, uid, "somebody:1"
	if uid != "" && d.rows("SELECT 1 FROM command_executions WHERE uid = '"+uid+"'") == "" {
		d.process(uid, "s", hourAgo)
	}
	return &other
}

// movingVerbs are all that a lease keeps others from; each would succeed if
// there were none. The session is in phase synthesis.
var movingVerbs = map[string]func(d *desk) error{
	"advance":        func(d *desk) error { _, err := d.advance("s", "synthesis"); return err },
	"next round":     func(d *desk) error { return advanceTo(d, &told{id: "s", workflow: "review"}, "context", 2) },
	"complete-round": func(d *desk) error { _, err := d.completeRound("s", changes); return err },
	"finish --abort": func(d *desk) error { _, err := d.finish("s", true); return err },
	"resume": func(d *desk) error {
		_, err := lifecycle.Resume(d.t.Context(), d.Caller, lifecycle.ResumeRequest{SessionID: "s", Now: true})
		return err
	},
}

// movingVerbsAfterCompletion are those that need a complete round.
var movingVerbsAfterCompletion = map[string]func(d *desk) error{
	"finish":         func(d *desk) error { _, err := d.finish("s", false); return err },
	"complete again": func(d *desk) error { _, err := d.completeRound("s", changes); return err },
	"begin": func(d *desk) error {
		_, err := lifecycle.Begin(d.t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review"})
		return err
	},
}

// eachMoving calls fn for every moving verb, each on a desk of its own with a
// session that make has brought to where a lease is.
func eachMoving(t *testing.T, make func(d *desk), fn func(t *testing.T, d *desk, verb func(d *desk) error)) {
	t.Helper()
	for name, verb := range movingVerbs {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", "review")
			d.walk("s", "synthesis")
			make(d)
			fn(t, d, verb)
		})
	}
	for name, verb := range movingVerbsAfterCompletion {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", "review")
			d.walk("s", "synthesis")
			d.sql(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata) VALUES ('s', 'round_completed', 'synthesis', 7, 1,
				'{"verdict":"REQUEST CHANGES","blocker_count":1,"should_fix_count":0,"suggestion_count":0,"reviewer_count":1,"total_finding_count":2,"source":"orchestrator"}');
				UPDATE sessions SET current_phase = 'complete', phase_number = 8`)
			make(d)
			fn(t, d, verb)
		})
	}
}

func TestLeaseFence(t *testing.T) {
	t.Run("OthersAreRefused", func(t *testing.T) {
		eachMoving(t, func(d *desk) { d.lease("s", "u1", "tok", "datetime('now', '-20 minutes')") }, func(t *testing.T, d *desk, verb func(d *desk) error) {
			for _, other := range []*desk{d.as("", ""), d.as("", "u2")} {
				no := other.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { return verb(other) })
				if text := fmt.Sprint(no.Message); !strings.Contains(text, "if you are u1: ") || strings.Contains(text, "tok ") {
					t.Errorf("words %q", text)
				}
			}
		})
	})
	t.Run("TokenOrOwnerPasses", func(t *testing.T) {
		for _, shown := range [][2]string{{"tok", ""}, {"", "u1"}, {"tok", "u1"}, {"tok", "u2"}} {
			eachMoving(t, func(d *desk) { d.lease("s", "u1", "tok", "datetime('now')") }, func(t *testing.T, d *desk, verb func(d *desk) error) {
				must(t, verb(d.as(shown[0], shown[1])))
			})
		}
	})
	// Every refusal names the owner: to call oneself that opens nothing where no
	// such process is recorded.
	t.Run("NameOpensNothing", func(t *testing.T) {
		eachMoving(t, func(d *desk) { d.lease("s", "box:70", "tok", "datetime('now')") }, func(t *testing.T, d *desk, verb func(d *desk) error) {
			d.ExecutionUID, d.Owner = "box:70", "box:70"
			d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { return verb(d) })
		})
	})
	// The process of another session is nobody here.
	t.Run("ProcessOfAnotherSession", func(t *testing.T) {
		eachMoving(t, func(d *desk) {
			d.begin("t", "review")
			d.process("u1", "t", hourAgo)
			d.lease("s", "u1", "tok", "datetime('now')")
		}, func(t *testing.T, d *desk, verb func(d *desk) error) {
			d.ExecutionUID = "u1"
			d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { return verb(d) })
		})
	})
	t.Run("LostAfterTakeover", func(t *testing.T) {
		// The takeover itself may be over by now: what was lost stays lost.
		for _, at := range []string{"datetime('now')", hourAgo} {
			eachMoving(t, func(d *desk) {
				d.lease("s", "u1", "tok", "datetime('now', '-3 hours')")
				d.lease("s", "u2", "newer", at)
			}, func(t *testing.T, d *desk, verb func(d *desk) error) {
				for _, old := range []*desk{d.as("tok", ""), d.as("tok", "u1"), d.as("never", ""), d.as("tok", "u2")} {
					old.refused(lifecycle.Invariant, lifecycle.KindLeaseLost, func() error { return verb(old) })
				}
			})
		}
	})
	t.Run("ExpiredAndNotTakenOver", func(t *testing.T) {
		eachMoving(t, func(d *desk) { d.lease("s", "u1", "tok", "datetime('now', '-3 hours')") }, func(t *testing.T, d *desk, verb func(d *desk) error) {
			must(t, verb(d.as("tok", "")))
		})
	})
	t.Run("ExpiredHoldsNobody", func(t *testing.T) {
		eachMoving(t, func(d *desk) { d.lease("s", "u1", "tok", "datetime('now', '-3 hours')") }, func(t *testing.T, d *desk, verb func(d *desk) error) {
			must(t, verb(d.as("", "u2")))
		})
	})
	t.Run("WithoutOwnerIsAdvisory", func(t *testing.T) {
		eachMoving(t, func(d *desk) { d.event("s", "session_resumed", foreignLease, "datetime('now')") }, func(t *testing.T, d *desk, verb func(d *desk) error) {
			var no *lifecycle.Error
			if err := verb(d.as("", "u2")); errors.As(err, &no) && no.Kind == lifecycle.KindLeaseHeld && strings.Contains(t.Name(), "resume") {
				return
			} else {
				must(t, err)
			}
		})
	})
	t.Run("AheadOfNowCountsAsNow", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u1", "tok", "datetime('now', '+1 day')")
		no := d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.advance("s", "context"); return err })
		if until := detailsOf(t, no)["until"].(string); leftUntil(t, until) > 31*time.Minute {
			t.Errorf("until %s", until)
		}
	})
	t.Run("UnreadableTime", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u1", "tok", "'yesterday'")
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseUnreadable, func() error { _, err := d.advance("s", "context"); return err })
		_, err := d.as("tok", "").advance("s", "context")
		must(t, err)
	})
	t.Run("OwnSecondsCount", func(t *testing.T) {
		// Neither a reader's shorter nor its longer setting changes the end.
		for at, held := range map[string]bool{"datetime('now', '-29 minutes')": true, "datetime('now', '-31 minutes')": false} {
			for _, setting := range []int64{1, 1 << 20} {
				d := newDesk(t)
				d.begin("s", "review")
				d.lease("s", "u1", "tok", at)
				d.Runtime.ForwardResumeLeaseSeconds = setting
				_, err := d.advance("s", "context")
				if (err != nil) != held {
					t.Errorf("%s, setting %d: %v", at, setting, err)
				}
			}
		}
	})
}

// TestLeaseSignOfLife: what is appended with a lease prolongs it, and nothing
// else does.
func TestLeaseSignOfLife(t *testing.T) {
	end := func(d *desk) string {
		return strings.TrimSpace(d.rows("SELECT until > datetime('now') FROM leases WHERE is_newest = 1"))
	}
	t.Run("StepOfTheHolder", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u1", "tok", hourAgo)
		_, err := d.as("tok", "").advance("s", "change-context")
		must(t, err)
		if end(d) != "1" {
			t.Error("the lease was not renewed")
		}
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.advance("s", "analysis"); return err })
	})
	t.Run("StepOfSomebodyElse", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u1", "tok", hourAgo)
		for _, phase := range []string{"change-context", "analysis"} {
			_, err := d.as("", "u2").advance("s", phase)
			must(t, err)
		}
		if end(d) != "0" {
			t.Error("somebody else's step renewed the lease")
		}
	})
	t.Run("ResumeOfTheHolder", func(t *testing.T) {
		for _, at := range []string{"datetime('now', '-5 minutes')", hourAgo} {
			d := newDesk(t)
			d.begin("s", "review")
			d.walk("s", "reviews")
			d.lease("s", "u1", "tok", at)
			for _, shown := range []*desk{d.as("tok", ""), d.as("", "u1")} {
				got, err := lifecycle.Resume(t.Context(), shown.Caller, lifecycle.ResumeRequest{SessionID: "s"})
				must(t, err)
				if !got.Resumed || got.Changed || got.Attempts != 1 || got.AttemptsLeft != 1 || got.LeaseToken != "tok" || time.Until(got.LeaseUntil) < 29*time.Minute {
					t.Errorf("%+v", got)
				}
			}
			if row := d.rows("SELECT current_phase, phase_number, status FROM sessions"); row != "reviews|4|active\n" || end(d) != "1" {
				t.Errorf("row %q", row)
			}
			if drift := d.rows("SELECT * FROM session_drift"); drift != "" {
				t.Error(drift)
			}
		}
	})
	t.Run("LastAttempt", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u0", "first", "datetime('now', '-5 hours')")
		d.lease("s", "u1", "tok", hourAgo)
		got, err := lifecycle.Resume(t.Context(), d.as("tok", "").Caller, lifecycle.ResumeRequest{SessionID: "s"})
		must(t, err)
		if !got.Resumed || got.Closed {
			t.Errorf("the holder of the last attempt lost it: %+v", got)
		}
	})
	t.Run("NextRound", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u1", "tok", "datetime('now')")
		holder := d.as("tok", "")
		must(t, advanceTo(holder, &told{id: "s", workflow: "review"}, "context", 2))
		if !holder.noticed("the lease ended with round 1") && !d.noticed("the lease ended with round 1") {
			t.Error("nobody says that the lease is over")
		}
		_, err := d.advance("s", "change-context")
		must(t, err)
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseLost, func() error { _, err := holder.advance("s", "analysis"); return err })
	})
}

// TestLeaseOwner: a lease lives no longer than the process that owns it.
func TestLeaseOwner(t *testing.T) {
	const old = "datetime('now', '-10 minutes')"
	for name, c := range map[string]struct {
		row  string // change of the owner's row, after the lease was taken
		over bool
	}{
		"Dead":        {"pid = 2000000000", true},
		"Ended":       {"finished_at = datetime('now'), exit_code = 0", true},
		"FoundDead":   {"finished_at = datetime('now'), exit_code = -3", true},
		"EndedBefore": {"finished_at = datetime('now', '-2 hours'), exit_code = 0", false},
		"Unprovable":  {"pid = NULL", false},
		"OddEnd":      {"finished_at = 'yesterday'", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", "review")
			d.lease("s", "u1", "tok", "datetime('now', '-12 minutes')")
			d.process("u1", "s", old)
			d.sql("UPDATE command_executions SET started_at = datetime('now', '-20 minutes'), " + c.row)
			if !c.over {
				no := d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { _, err := d.advance("s", "change-context"); return err })
				if !strings.Contains(no.Message, "u1") {
					t.Errorf("%v", no)
				}
				return
			}
			_, err := d.advance("s", "change-context")
			must(t, err)
		})
	}
}

func TestBreakLease(t *testing.T) {
	breaks := func(d *desk) error {
		_, err := lifecycle.Finish(d.t.Context(), d.Caller, lifecycle.FinishRequest{SessionID: "s", Abort: true, BreakLease: true})
		return err
	}
	note := "SELECT IFNULL(json_extract(metadata, '$.owner'), 'none'), json_extract(metadata, '$.broken_lease') = (SELECT MAX(event_id) FROM leases) FROM orchestration_events WHERE event_type = 'session_aborted'"
	d := newDesk(t)
	d.begin("s", "review")
	d.lease("s", "u1", "tok", "datetime('now')")
	must(t, breaks(d))
	if got := d.rows(note); got != "u1|1\n" {
		t.Errorf("note %q", got)
	}
	// Nothing to break, nothing to note.
	for _, at := range []string{"", hourAgo} {
		d := newDesk(t)
		d.begin("s", "review")
		if at != "" {
			d.lease("s", "u1", "tok", at)
		}
		must(t, breaks(d))
		if got := d.rows("SELECT metadata FROM orchestration_events WHERE event_type = 'session_aborted'"); got != "<nil>\n" {
			t.Errorf("note %q", got)
		}
	}
}

// TestFinishIfCompleteLeased: a hook that finishes what is complete leaves a
// round alone that somebody carries on.
func TestFinishIfCompleteLeased(t *testing.T) {
	d := newDesk(t)
	d.completed("s", "review")
	d.lease("s", "u1", "tok", "datetime('now')")
	got, err := lifecycle.Finish(t.Context(), d.Caller, lifecycle.FinishRequest{SessionID: "s", IfComplete: true})
	must(t, err)
	if got.Open != lifecycle.OpenLeased || got.Changed {
		t.Errorf("%+v", got)
	}
}

// TestStillMoving: what happened just now keeps others from taking over.
func TestStillMoving(t *testing.T) {
	take := func(d *desk, now bool) error {
		_, err := lifecycle.Resume(d.t.Context(), d.Caller, lifecycle.ResumeRequest{SessionID: "s", Now: now})
		return err
	}
	old := "datetime('now', '-10 minutes')"
	dead := func(d *desk) { d.sql("UPDATE command_executions SET pid = 2000000000, started_at = " + old) }

	for name, c := range map[string]struct {
		set   func(d *desk)
		moves bool
	}{
		"Recent":        {func(*desk) {}, true},
		"Unreadable":    {func(d *desk) { d.event("s", "phase_transition", "NULL", "'yesterday'") }, true},
		"ALittleAhead":  {func(d *desk) { d.event("s", "phase_transition", "NULL", "datetime('now', '+4 minutes')") }, true},
		"FarAhead":      {func(d *desk) { d.event("s", "phase_transition", "NULL", "datetime('now', '+1 day')") }, false},
		"Quiet":         {func(d *desk) { d.event("s", "phase_transition", "NULL", "datetime('now', '-61 seconds')") }, false},
		"AllDead":       {func(d *desk) { d.process("u", "s", old); dead(d) }, false},
		"OneUnprovable": {func(d *desk) { d.process("u", "s", old); dead(d); d.process("v", "s", old) }, true},
		"FoundDead": {func(d *desk) {
			d.process("u", "s", old)
			d.sql("UPDATE command_executions SET exit_code = -3, finished_at = datetime('now', '+1 second')")
		}, false},
		"FoundDeadBefore": {func(d *desk) {
			d.process("u", "s", old)
			d.sql("UPDATE command_executions SET exit_code = -3, finished_at = " + old)
		}, true},
		"OnlyTheCallerItself": {func(d *desk) { d.process("me", "s", "datetime('now')"); d.ExecutionUID = "me" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", "review")
			c.set(d)
			if !c.moves {
				must(t, take(d, false))
				return
			}
			no := d.refused(lifecycle.Invariant, lifecycle.KindStillMoving, func() error { return take(d, false) })
			if !strings.Contains(no.Message, "--now") {
				t.Errorf("%v", no)
			}
			must(t, take(d, true))
		})
	}
	t.Run("NowIsNoForce", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.lease("s", "u1", "tok", "datetime('now')")
		d.refused(lifecycle.Invariant, lifecycle.KindLeaseHeld, func() error { return take(d, true) })
		d = newDesk(t)
		d.begin("s", "review")
		d.process("u", "s", "datetime('now')")
		d.refused(lifecycle.Invariant, lifecycle.KindStillRunning, func() error { return take(d, true) })
	})
}

// TestExhaustedOpenedAgain: attempts count from the opening that followed.
func TestExhaustedOpenedAgain(t *testing.T) {
	d := newDesk(t)
	d.begin("s", "review")
	d.lease("s", "u1", "1", "datetime('now', '-5 hours')")
	d.lease("s", "u2", "2", "datetime('now', '-3 hours')")
	got, err := d.resume("s")
	must(t, err)
	if !got.Closed || !got.Changed {
		t.Fatalf("%+v", got)
	}
	d.begin("s", "review")
	if next := d.status("s").Next; next.Kind != lifecycle.NextForwardResume || *next.AttemptsLeft != 2 {
		t.Errorf("%+v", next)
	}
	got, err = d.resume("s")
	must(t, err)
	if !got.Resumed || got.Attempts != 1 || got.AttemptsLeft != 1 {
		t.Errorf("%+v", got)
	}
}

// TestBeginRepeated: who does not know whether begin succeeded may repeat it.
func TestBeginRepeated(t *testing.T) {
	begin := func(d *desk, branch, uid string) (lifecycle.BeginResult, error) {
		return lifecycle.Begin(d.t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: branch, Workflow: "review", DashboardUID: uid})
	}
	setUp := func(t *testing.T) *desk {
		d := newDesk(t)
		d.sql("INSERT INTO command_executions (uid, command, last_heartbeat_at) VALUES ('u', 'review', datetime('now')), ('v', 'review', datetime('now'))")
		d.ExecutionUID = "u"
		_, err := begin(d, "b", "")
		must(t, err)
		return d
	}
	t.Run("Same", func(t *testing.T) {
		d := setUp(t)
		before := d.all()
		got, err := begin(d, "b", "")
		must(t, err)
		if got.Changed || got.Round != 1 || got.Phase != "context" || got.Next.Kind != lifecycle.NextAdvance || d.all() != before {
			t.Errorf("%+v", got)
		}
	})
	t.Run("SameByFlagAfterReopening", func(t *testing.T) {
		d := setUp(t)
		_, err := d.finish("s", true)
		must(t, err)
		d.ExecutionUID = ""
		d.sql("UPDATE command_executions SET workflow_id = NULL, finished_at = NULL, exit_code = NULL")
		for _, changed := range []bool{true, false} {
			got, err := begin(d, "b", "u")
			must(t, err)
			if got.Changed != changed {
				t.Errorf("%+v", got)
			}
		}
	})
	for name, other := range map[string]func(d *desk) error{
		"Anonymous":      func(d *desk) error { d.ExecutionUID = ""; _, err := begin(d, "b", ""); return err },
		"AnotherProcess": func(d *desk) error { d.ExecutionUID = "v"; _, err := begin(d, "b", ""); return err },
		"AnotherBranch":  func(d *desk) error { _, err := begin(d, "c", ""); return err },
		"AfterProgress": func(d *desk) error {
			d.event("s", "phase_transition", "NULL", "datetime('now')")
			_, err := begin(d, "b", "")
			return err
		},
		"AfterTheEndOfTheProcess": func(d *desk) error {
			d.sql("UPDATE command_executions SET finished_at = datetime('now'), exit_code = 1")
			_, err := begin(d, "b", "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var no *lifecycle.Error
			if err := other(setUp(t)); !errors.As(err, &no) || no.Kind != lifecycle.KindUnfinished {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestSweepLeavesLeases: a lease outlasts the week after which a sweep closes
// what nobody works on.
func TestSweepLeavesLeases(t *testing.T) {
	d := newDesk(t)
	for id, metadata := range map[string]string{
		"kept":      `'{"kind":"forward_resume","round":1,"owner":"u1","token":"t","lease_seconds":2592000}'`,
		"over":      `'{"kind":"forward_resume","round":1,"owner":"u1","token":"t","lease_seconds":60}'`,
		"ownerless": `'{"kind":"forward_resume","round":1,"lease_seconds":2592000}'`,
	} {
		d.begin(id, "review")
		d.event(id, "session_resumed", metadata, "datetime('now', '-8 days')")
	}
	plan, got := d.sweep(true), d.sweep(false)
	if fmt.Sprint(plan) != fmt.Sprint(got) || d.rows("SELECT id FROM sessions WHERE status = 'active'") != "kept\n" {
		t.Errorf("%+v, %+v", plan, got)
	}
}
