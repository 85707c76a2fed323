package journal

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/process"
)

// TestOneAnswer holds every part of the program that asks whether a process
// lives to the same answer: for each proof, heartbeat and caller.
func TestOneAnswer(t *testing.T) {
	seenPID, otherPID := int64(70), int64(71)
	recorded := process.Sighting{Start: process.Start{Ms: 1000, Ticks: 50}}
	proofs := map[string]struct {
		pid  *int64            // as start-instance is told
		now  *process.Sighting // what stands behind the id later; nil: nothing
		far  bool              // it was recorded on another host
		want func(beat string) string
	}{
		"Same":   {pid: &seenPID, now: &recorded, want: func(string) string { return process.Living }},
		"Gone":   {pid: &seenPID, want: func(string) string { return process.Dead }},
		"Reused": {pid: &seenPID, now: &process.Sighting{Start: process.Start{Ms: 1010, Ticks: 51}}, want: func(string) string { return process.Dead }},
		"Far":    {pid: &seenPID, far: true, want: byHeartbeat},
		"NoPID":  {want: byHeartbeat},
		// Nobody saw it when it was recorded.
		"Unseen": {pid: &otherPID, want: func(beat string) string {
			if beat == "old" {
				return process.Dead
			}
			return byHeartbeat(beat)
		}},
	}
	beats := map[string]string{
		"young":      "datetime('now')",
		"old":        "datetime('now', '-1 day')",
		"ahead":      "datetime('now', '+4 minutes')",
		"far ahead":  "datetime('now', '+1 day')",
		"unreadable": "'yesterday'",
	}
	for proof, p := range proofs {
		for beat, stored := range beats {
			for _, self := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/self=%v", proof, beat, self), func(t *testing.T) {
					d := newDesk(t)
					here := process.Place{Host: "box", BootID: "b1", PIDSpace: "p1"}
					machine := &fake{here, map[int64]process.Sighting{seenPID: recorded}}
					d.Processes = machine
					if p.far {
						machine.place = process.Place{Host: "far", BootID: "b2", PIDSpace: "p1"}
					}
					id := d.start(StartRequest{PID: p.pid})
					machine.place = here
					delete(machine.seen, seenPID)
					if p.now != nil {
						machine.seen[seenPID] = *p.now
					}
					d.exec("UPDATE command_executions SET last_heartbeat_at = " + stored + " WHERE uid = '" + id + "'")
					if self {
						d.ExecutionUID = id
					}
					d.wantOneAnswer(id, p.want(beat), beat, self)
				})
			}
		}
	}
}

// byHeartbeat is the answer where nothing can be proved.
func byHeartbeat(beat string) string {
	if beat == "young" || beat == "ahead" {
		return process.Living
	}
	return process.Unknown
}

// wantOneAnswer asks list, status, resume and both sweeps about the only
// process of session s.
func (d *desk) wantOneAnswer(id, state, beat string, self bool) {
	d.t.Helper()
	ctx := context.Background()
	if got := d.row(id).Verdict; got.State != state || got.Stalled != (beat == "old") {
		d.t.Errorf("list says %+v, want %s", got, state)
	}
	status, err := lifecycle.GetStatus(ctx, d.Caller, "s")
	must(d.t, err)
	waits := !self && state != process.Dead
	if got := status.Next.Kind == lifecycle.NextWait; got != waits {
		d.t.Errorf("status says %q, waiting for it: %v", status.Next.Kind, waits)
	}
	dry := d.sweep(SweepRequest{DryRun: true})
	dead := state == process.Dead && !self
	if (len(dry.Orphaned) == 1) != dead {
		d.t.Errorf("a sweep would say %+v", dry)
	}
	must(d.t, db.Read(ctx, d.Project.Database(), func(ctx context.Context, r *db.Reader) error {
		running, err := d.Running(ctx, r.Queries, time.Now())
		if err == nil && (len(running) != 1 || running[0].State != state || running[0].Self != self) {
			d.t.Errorf("the doctor is told %+v", running)
		}
		return err
	}))
	// A heartbeat that is not a valid timestamp keeps others away as well.
	works := !self && (state == process.Living || state == process.Unknown && beat == "unreadable")
	_, err = lifecycle.Resume(ctx, d.Caller, lifecycle.ResumeRequest{SessionID: "s", Now: true})
	if works {
		wantRefusal(d.t, err, lifecycle.Invariant, lifecycle.KindStillRunning)
	} else {
		must(d.t, err)
	}
	result := d.sweep(SweepRequest{})
	if (len(result.Orphaned) == 1) != dead {
		d.t.Errorf("the sweep says %+v", result)
	}
	if dead {
		d.wantStatus(id, "orphaned", -3)
	} else {
		d.wantStatus(id, "running", -99)
	}
}

// TestSelf: a caller below a recorded process is that process, without saying
// so, and nobody else is.
func TestSelf(t *testing.T) {
	const agent, shell = int64(70), int64(80)
	fresh := func(t *testing.T) (*desk, *fake) {
		d := newDesk(t)
		machine := &fake{process.Place{Host: "box", BootID: "b1", PIDSpace: "p1"}, map[int64]process.Sighting{
			agent: {Start: process.Start{Ms: 1000, Ticks: 50}, Parent: 1},
			shell: {Start: process.Start{Ms: 2000, Ticks: 90}, Parent: agent},
		}}
		d.Processes, d.ParentPID = machine, shell
		return d, machine
	}
	self := func(d *desk) (uid string) {
		d.t.Helper()
		must(d.t, db.Read(context.Background(), d.Project.Database(), func(ctx context.Context, r *db.Reader) (err error) {
			uid, err = d.Self(ctx, r.Queries, "s")
			return err
		}))
		return uid
	}
	t.Run("Ancestor", func(t *testing.T) {
		d, _ := fresh(t)
		id := d.start(StartRequest{PID: ptr(agent)})
		if got := self(d); got != id {
			t.Errorf("got %q, want %q", got, id)
		}
		status, err := lifecycle.GetStatus(context.Background(), d.Caller, "s")
		must(t, err)
		if status.Next.Kind != lifecycle.NextAdvance {
			t.Errorf("a caller waits for itself: %+v", status.Next)
		}
	})
	t.Run("IDGivenAgain", func(t *testing.T) {
		d, machine := fresh(t)
		d.start(StartRequest{PID: ptr(agent)})
		machine.seen[agent] = process.Sighting{Start: process.Start{Ms: 9000, Ticks: 51}, Parent: 1}
		if got := self(d); got != "" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("TwoAbove", func(t *testing.T) {
		d, _ := fresh(t)
		d.start(StartRequest{PID: ptr(agent)})
		d.start(StartRequest{PID: ptr(shell)})
		if got := self(d); got != "" {
			t.Errorf("got %q", got)
		}
	})
	// start-instance given again, as after an answer that got lost: the agent is
	// the first row, and does not wait for the second.
	t.Run("RecordedTwice", func(t *testing.T) {
		for _, named := range []bool{false, true} {
			d, _ := fresh(t)
			first := d.start(StartRequest{PID: ptr(agent)})
			d.start(StartRequest{PID: ptr(agent)})
			if named {
				d.ExecutionUID = first
			}
			if got := self(d); got != first {
				t.Errorf("got %q, want %q", got, first)
			}
			status, err := lifecycle.GetStatus(context.Background(), d.Caller, "s")
			must(t, err)
			if status.Next.Kind != lifecycle.NextAdvance {
				t.Errorf("a caller waits for itself: %+v", status.Next)
			}
		}
	})
	t.Run("EndedRowIsNobody", func(t *testing.T) {
		d, _ := fresh(t)
		id := d.start(StartRequest{PID: ptr(agent)})
		_, err := End(context.Background(), d.Caller, EndRequest{ID: id})
		must(t, err)
		if got := self(d); got != "" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("SaidWins", func(t *testing.T) {
		d, _ := fresh(t)
		d.start(StartRequest{PID: ptr(agent)})
		d.ExecutionUID = "other"
		if got := self(d); got != "" {
			t.Errorf("a name that nobody recorded is %q", got)
		}
		d.exec("INSERT INTO command_executions (uid, command, workflow_id, last_heartbeat_at) VALUES ('other', 'ocr review', 's', datetime('now'))")
		if got := self(d); got != "other" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("FirstOfAContainer", func(t *testing.T) {
		d, machine := fresh(t)
		machine.seen[1] = process.Sighting{Start: process.Start{Ms: 10, Ticks: 1}}
		id := d.start(StartRequest{PID: ptr(int64(1))})
		if got := self(d); got != id {
			t.Errorf("got %q, want %q", got, id)
		}
	})
	t.Run("RowOfAnotherWriter", func(t *testing.T) {
		d, _ := fresh(t)
		d.exec("INSERT INTO command_executions (uid, command, workflow_id, pid, last_heartbeat_at) VALUES ('n', 'ocr review', 's', 70, datetime('now'))")
		if got := self(d); got != "" {
			t.Errorf("nothing proves that it is %q", got)
		}
	})
	t.Run("As", func(t *testing.T) {
		d, _ := fresh(t)
		d.begin("t")
		id := d.start(StartRequest{})
		d.ExecutionUID, d.ExecutionUIDByFlag = id, true
		_, err := lifecycle.GetStatus(context.Background(), d.Caller, "")
		must(t, err) // the session is the one that it works for
		_, err = lifecycle.GetStatus(context.Background(), d.Caller, "t")
		wantRefusal(t, err, lifecycle.Invariant, lifecycle.KindOtherSession)
		d.ExecutionUID = "nobody"
		_, err = lifecycle.GetStatus(context.Background(), d.Caller, "s")
		wantRefusal(t, err, lifecycle.NotFound, lifecycle.KindNoProcess)
	})
}

// TestVendorSession: one session of a vendor never belongs to two unfinished
// processes.
func TestVendorSession(t *testing.T) {
	d := newDesk(t)
	first, second := d.start(StartRequest{}), d.start(StartRequest{})
	bind := func(id string) error {
		_, err := Bind(context.Background(), d.Caller, BindRequest{ID: id, VendorID: "V1"})
		return err
	}
	must(t, bind(first))
	must(t, bind(first))
	wantRefusal(t, bind(second), lifecycle.Invariant, KindVendorTaken)
	_, err := End(context.Background(), d.Caller, EndRequest{ID: first})
	must(t, err)
	must(t, bind(second))
}
