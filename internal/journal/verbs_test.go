package journal

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"ocr/db"
	"ocr/internal/history"
	"ocr/internal/lifecycle"
)

func TestStart(t *testing.T) {
	ctx := context.Background()
	t.Run("OK", func(t *testing.T) {
		d := newDesk(t)
		pid := int64(os.Getpid())
		id := d.start(StartRequest{Persona: "tester", Instance: ptr(int64(0)), Model: "m", Phase: "reviews", PID: &pid, Note: "n"})
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("%q is no UUIDv4", id)
		}
		row := d.row(id)
		if *row.Name != "tester-0" || row.Kind != "instance" || row.Status != "running" || *row.Phase != "reviews" ||
			*row.PID != pid || *row.Notes != "n" || row.WorkflowID != "s" || row.Verdict.Stalled || row.Verdict.State != "alive" {
			t.Errorf("got %+v", row)
		}
		if got := d.text("SELECT command FROM command_executions"); got != "session-instance:tester-0" {
			t.Errorf("the command is %q", got)
		}
		if got := d.text("SELECT host IS NOT NULL AND pid_started_ms IS NOT NULL AND pid = " + fmt.Sprint(pid) + " FROM process_identity"); got != "1" {
			t.Error("the process is not identified")
		}
	})
	t.Run("BareCommand", func(t *testing.T) {
		d := newDesk(t)
		d.start(StartRequest{Persona: "tester"})
		d.start(StartRequest{Instance: ptr(int64(4))})
		if got := d.text("SELECT group_concat(command || ':' || IFNULL(name, '-')) FROM command_executions"); got != "session-instance:-,session-instance:-" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("Closed", func(t *testing.T) {
		d := newDesk(t)
		_, err := lifecycle.Finish(ctx, d.Caller, lifecycle.FinishRequest{SessionID: "s", Abort: true})
		must(t, err)
		_, err = Start(ctx, d.Caller, StartRequest{Workflow: "s", Vendor: "v"})
		wantRefusal(t, err, lifecycle.Invariant, lifecycle.KindClosed)
	})
	t.Run("Ambiguous", func(t *testing.T) {
		d := newDesk(t)
		d.begin("t")
		_, err := Start(ctx, d.Caller, StartRequest{Vendor: "v"})
		wantRefusal(t, err, lifecycle.Ambiguous, lifecycle.KindSeveralActive)
	})
	t.Run("NoSession", func(t *testing.T) {
		d := newDesk(t)
		_, err := Start(ctx, d.Caller, StartRequest{Workflow: "t", Vendor: "v"})
		wantRefusal(t, err, lifecycle.NotFound, lifecycle.KindNoSession)
	})
	t.Run("NoDatabase", func(t *testing.T) {
		d := emptyDesk(t)
		_, err := Start(ctx, d.Caller, StartRequest{Vendor: "v"})
		if db.KindOf(err) != db.KindNoDatabase {
			t.Fatalf("got %v", err)
		}
		if _, err := os.Stat(d.Project.Database()); !os.IsNotExist(err) {
			t.Error("a database was made")
		}
	})
	// A refusal leaves everything as it was, dead processes too.
	t.Run("RefusedSweepsNothing", func(t *testing.T) {
		d := newDesk(t)
		dead := d.start(StartRequest{PID: ptr(int64(2_000_000_000))})
		d.age(dead)
		_, err := Start(ctx, d.Caller, StartRequest{Workflow: "t", Vendor: "v"})
		wantRefusal(t, err, lifecycle.NotFound, lifecycle.KindNoSession)
		d.wantStatus(dead, "running", -99)
	})
	t.Run("Sweeps", func(t *testing.T) {
		d := newDesk(t)
		dead := d.start(StartRequest{PID: ptr(int64(2_000_000_000))})
		d.age(dead)
		d.start(StartRequest{})
		d.wantStatus(dead, "orphaned", -3)
		if !strings.Contains(strings.Join(d.notices, "\n"), dead+" was found dead") {
			t.Errorf("not said: %q", d.notices)
		}
	})
}

func TestBeat(t *testing.T) {
	ctx := context.Background()
	t.Run("OK", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{})
		d.age(id)
		if !d.row(id).Verdict.Stalled {
			t.Error("an old heartbeat is not stalled")
		}
		_, err := Beat(ctx, d.Caller, id)
		must(t, err)
		if d.row(id).Verdict.Stalled {
			t.Error("a new heartbeat is stalled")
		}
	})
	t.Run("Ended", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{})
		_, err := End(ctx, d.Caller, EndRequest{ID: id})
		must(t, err)
		_, err = Beat(ctx, d.Caller, id)
		wantRefusal(t, err, lifecycle.Invariant, KindEnded)
	})
	t.Run("NoProcess", func(t *testing.T) {
		d := newDesk(t)
		for _, id := range []string{"nope", "", "0", "1", "01"} {
			_, err := Beat(ctx, d.Caller, id)
			wantRefusal(t, err, lifecycle.NotFound, KindNoProcess)
		}
	})
	// Rows of others may have no uid: their number stands for it.
	t.Run("ByNumber", func(t *testing.T) {
		d := newDesk(t)
		d.exec("INSERT INTO command_executions (id, command, workflow_id, last_heartbeat_at) VALUES (7, 'ocr review', 's', datetime('now', '-1 hour'))")
		_, err := Beat(ctx, d.Caller, "7")
		must(t, err)
		if d.row("7").Verdict.Stalled {
			t.Error("the heartbeat is old")
		}
	})
}

func TestBind(t *testing.T) {
	ctx := context.Background()
	bind := func(d *desk, id, vendorID string) error {
		_, err := Bind(ctx, d.Caller, BindRequest{ID: id, VendorID: vendorID})
		return err
	}
	t.Run("Once", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{})
		d.age(id)
		must(t, bind(d, id, "ses_01-AB.c:9"))
		if row := d.row(id); *row.VendorSessionID != "ses_01-AB.c:9" || row.Verdict.Stalled {
			t.Errorf("got %+v", row)
		}
		must(t, bind(d, id, "ses_01-AB.c:9"))
		wantRefusal(t, bind(d, id, "ses_02"), lifecycle.Invariant, KindBound)
	})
	t.Run("BadVendorID", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{})
		for _, bad := range []string{"", "_a", ".a", "-a", ":a", "a b", "$(id)", "a\n", "é", "a\x00", strings.Repeat("a", 257)} {
			wantRefusal(t, bind(d, id, bad), lifecycle.Usage, KindBadVendorID)
		}
		must(t, bind(d, id, strings.Repeat("a", 256)))
	})
	t.Run("Ended", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{})
		_, err := End(ctx, d.Caller, EndRequest{ID: id})
		must(t, err)
		wantRefusal(t, bind(d, id, "v1"), lifecycle.Invariant, KindEnded)
	})
	t.Run("Auto", func(t *testing.T) {
		d := newDesk(t)
		d.begin("t")
		first, second := d.start(StartRequest{}), d.start(StartRequest{})
		ended := d.start(StartRequest{})
		_, err := End(ctx, d.Caller, EndRequest{ID: ended})
		must(t, err)
		d.start(StartRequest{Workflow: "t"})
		for i, want := range []string{second, first} {
			got, err := Bind(ctx, d.Caller, BindRequest{Workflow: "s", VendorID: fmt.Sprint("v", i)})
			must(t, err)
			if got != want {
				t.Errorf("bound %s, want %s", got, want)
			}
		}
		_, err = Bind(ctx, d.Caller, BindRequest{Workflow: "s", VendorID: "v9"})
		wantRefusal(t, err, lifecycle.NotFound, KindNoneUnbound)
		latest, err := Latest(ctx, d.Caller, "s")
		must(t, err)
		if latest.ID != second {
			t.Errorf("the latest is %s, want %s", latest.ID, second)
		}
		_, err = Latest(ctx, d.Caller, "t")
		wantRefusal(t, err, lifecycle.NotFound, KindNoneBound)
	})
	// Of several that bind one process at once, one wins.
	t.Run("AtOnce", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{})
		errs := make(chan error)
		for i := range 4 {
			go func() { errs <- bind(d, id, fmt.Sprint("v", i)) }()
		}
		won := 0
		for range 4 {
			if err := <-errs; err == nil {
				won++
			} else {
				wantRefusal(t, err, lifecycle.Invariant, KindBound)
			}
		}
		if won != 1 {
			t.Errorf("%d have bound it", won)
		}
	})
}

func TestEnd(t *testing.T) {
	ctx := context.Background()
	end := func(t *testing.T, d *desk, in EndRequest) Ended {
		t.Helper()
		ended, err := End(ctx, d.Caller, in)
		must(t, err)
		return ended
	}
	d := newDesk(t)
	for _, c := range []struct {
		status string
		code   any
		want   string
		stored int64
	}{
		{"", nil, "done", 0}, {"done", nil, "done", 0}, {"crashed", nil, "crashed", 1}, {"cancelled", nil, "cancelled", -2},
		{"", 0, "done", 0}, {"", 3, "crashed", 3}, {"", -1, "crashed", -1}, {"", -2, "cancelled", -2},
		{"done", 0, "done", 0}, {"crashed", 139, "crashed", 139}, {"cancelled", -2, "cancelled", -2},
		{"done", 1, "", 0}, {"crashed", 0, "", 0}, {"cancelled", 7, "", 0}, {"cancelled", 0, "", 0}, {"crashed", -2, "", 0},
		{"", -3, "", 0}, {"", -4, "", 0}, {"", -5, "", 0}, {"crashed", -3, "", 0},
	} {
		t.Run(fmt.Sprintf("Result/%s%v", c.status, c.code), func(t *testing.T) {
			pid := int64(os.Getpid())
			id := d.start(StartRequest{PID: &pid})
			in := EndRequest{ID: id, Status: c.status}
			if code, ok := c.code.(int); ok {
				in.ExitCode = ptr(int64(code))
			}
			ended, err := End(ctx, d.Caller, in)
			if c.want == "" {
				wantRefusal(t, err, lifecycle.Usage, KindBadResult)
				d.wantStatus(id, "running", -99)
				return
			}
			must(t, err)
			d.wantStatus(id, c.want, c.stored)
			if ended.Status != c.want || !ended.Changed || *d.row(id).PID != pid {
				t.Errorf("got %+v", ended)
			}
		})
	}
	t.Run("NoProcess", func(t *testing.T) {
		_, err := End(ctx, newDesk(t).Caller, EndRequest{ID: "nope"})
		wantRefusal(t, err, lifecycle.NotFound, KindNoProcess)
	})
	t.Run("Again", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{Note: "first"})
		end(t, d, EndRequest{ID: id, Note: "second"})
		before := *d.row(id).EndedAt
		again := end(t, d, EndRequest{ID: id, Status: "crashed", Note: "third"})
		if again.Changed || again.Status != "done" || *d.row(id).EndedAt != before || *d.row(id).Notes != "first\nsecond\nthird" {
			t.Errorf("got %+v, notes %q", again, *d.row(id).Notes)
		}
		if len(d.notices) != 1 || !strings.Contains(d.notices[0], "has ended already (done, exit code 0)") {
			t.Errorf("said %q", d.notices)
		}
	})
	// The journal's own verdict stays, and the real result is not lost.
	t.Run("LateAfterSweep", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{PID: ptr(int64(2_000_000_000))})
		d.age(id)
		d.sweep(SweepRequest{})
		d.notices = nil
		for range 2 {
			end(t, d, EndRequest{ID: id, ExitCode: ptr(int64(7))})
		}
		d.wantStatus(id, "orphaned", -3)
		if notes := *d.row(id).Notes; strings.Count(notes, "reported late: crashed, exit code 7") != 1 {
			t.Errorf("the notes are %q", notes)
		}
		if len(d.notices) != 2 || !strings.Contains(d.notices[0], "late result (crashed, exit code 7)") {
			t.Errorf("said %q", d.notices)
		}
	})
	t.Run("LateAfterFinish", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{})
		_, err := lifecycle.Finish(ctx, d.Caller, lifecycle.FinishRequest{SessionID: "s", Abort: true})
		must(t, err)
		end(t, d, EndRequest{ID: id})
		d.wantStatus(id, "cancelled", -4)
	})
}

func TestList(t *testing.T) {
	ctx := context.Background()
	t.Run("NoDatabase", func(t *testing.T) {
		d := emptyDesk(t)
		listed, err := List(ctx, d.Caller, ListRequest{All: true})
		if err != nil || listed == nil || len(listed) != 0 {
			t.Errorf("got %v, %v", listed, err)
		}
		_, err = List(ctx, d.Caller, ListRequest{Workflow: "s"})
		if db.KindOf(err) != db.KindNoDatabase {
			t.Errorf("got %v", err)
		}
	})
	// Times of other writers have other forms; utilities are not listed.
	t.Run("Order", func(t *testing.T) {
		d := newDesk(t)
		d.exec(`INSERT INTO command_executions (uid, command, workflow_id, started_at, last_heartbeat_at) VALUES
			('c', 'ocr review', 's', '2026-03-02T09:00:00.500Z', datetime('now')),
			('b', 'ocr review', 's', '2026-03-02T10:30:00+02:00', datetime('now')),
			('a', 'ocr review', NULL, '2026-03-02 08:00:00', datetime('now')),
			('u', 'ocr sync', 's', '2026-03-02 07:00:00', NULL)`)
		listed, err := List(ctx, d.Caller, ListRequest{All: true})
		must(t, err)
		var ids []string
		for _, row := range listed {
			ids = append(ids, row.ID)
		}
		if strings.Join(ids, "") != "abc" {
			t.Errorf("got %v", ids)
		}
	})
	// Whatever others store, the list can be read.
	t.Run("HostileRow", func(t *testing.T) {
		d := newDesk(t)
		d.exec(`INSERT INTO command_executions (uid, command, workflow_id, pid, instance_index, exit_code, last_heartbeat_at, notes)
			VALUES ('h', x'00ff', 's', 'abc', 1.5, 'x', 'yesterday', x'1b5b')`)
		row := d.row("h")
		if row.PID != nil || row.HeartbeatEpoch != nil || row.Verdict.Stalled || row.Verdict.State != "unknown" {
			t.Errorf("got %+v", row)
		}
	})
	t.Run("DeadButNotSwept", func(t *testing.T) {
		d := newDesk(t)
		pid, kill := sleeper(t)
		id := d.start(StartRequest{PID: &pid})
		kill()
		row := d.row(id)
		if row.Status != "running" || row.Verdict.State != "dead" {
			t.Errorf("got %s, %+v", row.Status, row.Verdict)
		}
	})
}

// TestHistory: the journal comes back from its recovery log.
func TestHistory(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t)
	done := d.start(StartRequest{Persona: "tester", Instance: ptr(int64(1)), Note: "n"})
	dead := d.start(StartRequest{PID: ptr(int64(2_000_000_000))})
	running := d.start(StartRequest{})
	_, err := End(ctx, d.Caller, EndRequest{ID: done})
	must(t, err)
	d.age(dead)
	d.sweep(SweepRequest{})
	log, err := history.Replay(history.Path(d.Project.Data()))
	must(t, err)
	got := map[string]history.Entry{}
	for _, entry := range log.Entries {
		got[entry.UID] = entry
	}
	if len(got) != 2 || log.Started != 1 || log.Bad != 0 {
		t.Fatalf("got %+v; %s runs", log, running)
	}
	if e := got[done]; *e.ExitCode != 0 || *e.Name != "tester-1" || *e.WorkflowID != "s" || e.DBID != 1 || e.Writer != "cli" {
		t.Errorf("got %+v", e)
	}
	if e := got[dead]; *e.ExitCode != -3 {
		t.Errorf("got %+v", e)
	}
	// A log that cannot be written is no failure.
	must(t, os.RemoveAll(history.Path(d.Project.Data())))
	must(t, os.Mkdir(history.Path(d.Project.Data()), 0o777))
	d.notices = nil
	d.start(StartRequest{})
	if len(d.notices) != 1 || !strings.HasPrefix(d.notices[0], "warning: the recovery log") {
		t.Errorf("said %q", d.notices)
	}
}
