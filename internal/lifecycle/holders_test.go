package lifecycle_test

import (
	"errors"
	"fmt"
	"testing"

	"ocr/internal/lifecycle"
)

// TestWhoHoldsARun is the table of all answers: whoever asks, whatever lease
// there is and whatever is known of the process that worked on the round,
// status, resume, advance and sweep say the same about it.
func TestWhoHoldsARun(t *testing.T) {
	leases := map[string]func(d *desk){
		"none":      func(*desk) {},
		"ownerless": func(d *desk) { d.event("s", "session_resumed", foreignLease, "datetime('now')") },
		"in force":  func(d *desk) { d.lease("s", "h", "tok", "datetime('now')") },
		"over":      func(d *desk) { d.lease("s", "h", "tok", hourAgo) },
		"superseded": func(d *desk) {
			d.lease("s", "h", "tok", "datetime('now', '-2 hours')")
			d.lease("s", "n", "new", hourAgo)
		},
	}
	processes := map[string]func(d *desk){
		"none":    func(*desk) {},
		"live":    func(d *desk) { d.process("p", "s", "datetime('now')") },
		"unknown": func(d *desk) { d.process("p", "s", hourAgo) },
		"dead": func(d *desk) {
			d.process("p", "s", hourAgo)
			d.sql("UPDATE command_executions SET pid = 2000000000, started_at = " + hourAgo)
		},
	}
	shown := map[string]string{"anybody": "", "holder": "tok"}
	// want is what advance, resume and status answer.
	want := func(lease, process, caller string) (advance, resume, kind string) {
		held, lost := lease == "in force" && caller == "anybody", caller == "holder" && lease != "in force" && lease != "over"
		switch {
		case lost:
			advance, resume = lifecycle.KindLeaseLost, lifecycle.KindLeaseLost
		case held:
			advance = lifecycle.KindLeaseHeld
		}
		switch {
		case resume != "", caller == "holder":
		case process == "live":
			resume = lifecycle.KindStillRunning
		case held, lease == "ownerless":
			resume = lifecycle.KindLeaseHeld
		}
		switch {
		case process == "live", process == "unknown":
			kind = lifecycle.NextWait
		case caller == "holder" && !lost:
			kind = lifecycle.NextAdvance
		case lease == "superseded":
			kind = lifecycle.NextAbortOrFresh
		default:
			kind = lifecycle.NextForwardResume
		}
		return advance, resume, kind
	}
	kindOf := func(err error) string {
		var no *lifecycle.Error
		switch {
		case err == nil:
			return ""
		case errors.As(err, &no):
			return no.Kind
		}
		return err.Error()
	}
	for lease, take := range leases {
		for process, run := range processes {
			for caller, token := range shown {
				t.Run(fmt.Sprintf("lease %s, process %s, by %s", lease, process, caller), func(t *testing.T) {
					setUp := func() *desk {
						d := newDesk(t)
						d.begin("s", "review")
						take(d)
						run(d)
						return d.as(token, "")
					}
					advance, resume, kind := want(lease, process, caller)
					d := setUp()
					if got := d.status("s").Next.Kind; got != kind {
						t.Errorf("status says %s, want %s", got, kind)
					}
					if swept := d.sweep(false); len(swept.Closed) != 0 {
						t.Errorf("a sweep closed %v", swept.Closed)
					}
					if _, err := d.advance("s", "change-context"); kindOf(err) != advance {
						t.Errorf("advance: %v, want %q", err, advance)
					}
					d = setUp()
					if _, err := lifecycle.Resume(t.Context(), d.Caller, lifecycle.ResumeRequest{SessionID: "s", Now: true}); kindOf(err) != resume {
						t.Errorf("resume: %v, want %q", err, resume)
					}
				})
			}
		}
	}
}
