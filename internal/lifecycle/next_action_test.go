package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"

	"ocr/internal/lifecycle"
)

func (d *desk) status(id string) lifecycle.Status {
	d.t.Helper()
	status, err := lifecycle.GetStatus(d.t.Context(), d.Caller, id)
	must(d.t, err)
	return status
}

// TestStatusForTwoReaders: whoever works on a round and whoever does not are
// told different things, and a round that is moving is nobody's to take.
func TestStatusForTwoReaders(t *testing.T) {
	const onward, takeOver = "ocr state advance --session-id=s --phase change-context", "ocr state resume --session-id=s"
	look := func(d *desk) lifecycle.NextAction {
		t.Helper()
		next := d.status("s").Next
		if next.Kind != lifecycle.NextForwardResume || strings.Join(next.Argv, " ") != takeOver {
			t.Errorf("%+v", next)
		}
		if worker, other := strings.Index(next.Text, onward), strings.Index(next.Text, takeOver); worker < 0 || other < worker {
			t.Errorf("the worker is not told first: %q", next.Text)
		}
		return next
	}

	t.Run("RightAfterBegin", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		if next := look(d); !strings.Contains(next.Text, "waits until 20") {
			t.Errorf("a beginner's round is offered to others: %q", next.Text)
		}
	})
	t.Run("MovingInEveryFormat", func(t *testing.T) {
		for _, at := range append(formats(5), "datetime('now', '+4 minutes')") {
			d := newDesk(t)
			d.begin("s", "review")
			d.event("s", "phase_transition", "NULL", at)
			if next := look(d); !strings.Contains(next.Text, "waits until 20") {
				t.Errorf("%s: %q", at, next.Text)
			}
		}
	})
	t.Run("Quiet", func(t *testing.T) {
		for _, at := range append(formats(61), "datetime('now', '+1 hour')") {
			d := newDesk(t)
			d.begin("s", "review")
			d.event("s", "phase_transition", "NULL", at)
			if next := look(d); strings.Contains(next.Text, "waits until") || !strings.HasSuffix(next.Text, takeOver) {
				t.Errorf("%s: %q", at, next.Text)
			}
		}
	})
}

// TestOutlook: what a verb that moved a session says next is meant for the
// caller, who works on it.
func TestOutlook(t *testing.T) {
	d := newDesk(t)
	begun, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review"})
	must(t, err)
	if next := begun.Next; next.Kind != lifecycle.NextAdvance || fmt.Sprint(next.Argv) != "[ocr state advance --session-id=s --phase change-context]" {
		t.Errorf("begin: %+v", next)
	}
	d.process("u", "s", "datetime('now')")
	moved, err := d.advance("s", "change-context")
	must(t, err)
	if next := moved.Next; next.Kind != lifecycle.NextWait || len(next.WaitingOn) != 1 {
		t.Errorf("a live instance is not waited for: %+v", next)
	}
	d.sql("UPDATE command_executions SET last_heartbeat_at = datetime('now', '-1 hour')")
	moved, err = d.advance("s", "change-context")
	must(t, err)
	if next := moved.Next; next.Kind != lifecycle.NextWait || !strings.HasSuffix(next.Text, "end-instance u --status crashed -- and then: ocr state advance --session-id=s --phase analysis") {
		t.Errorf("a silent instance: %+v", next)
	}
	aborted, err := d.finish("s", true)
	must(t, err)
	if next := aborted.Next; next.Kind != lifecycle.NextReopen || next.Argv[2] != "begin" {
		t.Errorf("finish: %+v", next)
	}
}
