package journal

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"ocr/db/gen"
	"ocr/internal/process"
)

func TestSweep(t *testing.T) {
	const gone = int64(2_000_000_000)
	// insert writes a row as other programs do.
	insert := func(d *desk, uid, command string, pid any, started, beat string) {
		d.exec(fmt.Sprintf(`INSERT INTO command_executions (uid, command, workflow_id, pid, started_at, last_heartbeat_at)
			VALUES ('%s', '%s', 's', %v, %s, %s)`, uid, command, pid, started, beat))
	}
	t.Run("RealProcesses", func(t *testing.T) {
		d := newDesk(t)
		livePID, _ := sleeper(t)
		killedPID, kill := sleeper(t)
		live := d.start(StartRequest{PID: &livePID})
		killed := d.start(StartRequest{PID: &killedPID})
		first := d.start(StartRequest{PID: ptr(int64(1))})
		unknown := d.start(StartRequest{})
		fresh := d.start(StartRequest{PID: ptr(gone)})
		for _, id := range []string{live, killed, first, unknown} {
			d.age(id)
		}
		kill()
		dry := d.sweep(SweepRequest{DryRun: true})
		d.wantStatus(killed, "running", -99)
		result := d.sweep(SweepRequest{})
		for _, r := range []SweepResult{dry, result} {
			if len(r.Orphaned) != 1 || r.Orphaned[0].ID != killed || len(r.Ended)+len(r.Unknown)+len(r.Unreadable) != 0 {
				t.Errorf("got %+v", r)
			}
		}
		d.wantStatus(killed, "orphaned", -3)
		if row := d.row(killed); row.PID != nil || !strings.Contains(*row.Notes, "found dead") {
			t.Errorf("got %+v", row)
		}
		for _, id := range []string{live, first, unknown, fresh} {
			d.wantStatus(id, "running", -99)
		}
		if row := d.row(live); !row.Verdict.Stalled || row.Verdict.State != process.Living {
			t.Errorf("a living process with an old heartbeat is %+v", row)
		}
	})
	// The log of the database shows that a second sweep wrote nothing.
	t.Run("Twice", func(t *testing.T) {
		d := newDesk(t)
		d.age(d.start(StartRequest{PID: ptr(gone)}))
		d.sweep(SweepRequest{})
		before, err := os.ReadFile(d.Project.Database())
		must(t, err)
		if again := d.sweep(SweepRequest{}); len(again.Orphaned) != 0 {
			t.Errorf("swept again: %+v", again)
		}
		after, err := os.ReadFile(d.Project.Database())
		must(t, err)
		if string(before) != string(after) {
			t.Error("a sweep with nothing to do changed the database")
		}
	})
	// Other programs write the row, and start the process then.
	t.Run("RowBeforeProcess", func(t *testing.T) {
		d := newDesk(t)
		insert(d, "early", "ocr review", "NULL", "datetime('now')", "datetime('now', '-2 hours')")
		time.Sleep(2 * time.Second)
		pid, kill := sleeper(t)
		d.exec(fmt.Sprintf("UPDATE command_executions SET pid = %d", pid))
		if result := d.sweep(SweepRequest{}); len(result.Orphaned) != 0 {
			t.Fatalf("a living process was found dead: %+v", result)
		}
		if row := d.row("early"); row.Verdict.State != process.Living || !row.Verdict.Stalled {
			t.Errorf("got %+v", row)
		}
		kill()
		if result := d.sweep(SweepRequest{}); len(result.Orphaned) != 1 {
			t.Errorf("got %+v", result)
		}
	})
	t.Run("ReusedForeign", func(t *testing.T) {
		d := newDesk(t)
		pid, _ := sleeper(t)
		for uid, form := range map[string]string{
			"plain":    "datetime('now', '-2 hours')",
			"iso":      "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-2 hours')",
			"offset":   "strftime('%Y-%m-%dT%H:%M:%S', 'now') || '+02:00'",
			"future":   "datetime('now', '+2 hours')",
			"nonsense": "'yesterday'",
		} {
			insert(d, uid, "session-instance", pid, form, form)
		}
		result := d.sweep(SweepRequest{})
		if len(result.Unreadable) != 1 || result.Unreadable[0].ID != "nonsense" {
			t.Errorf("unreadable: %+v", result.Unreadable)
		}
		for _, uid := range []string{"plain", "iso", "offset"} {
			d.wantStatus(uid, "orphaned", -3)
		}
		for _, uid := range []string{"future", "nonsense"} {
			d.wantStatus(uid, "running", -99)
		}
	})
	t.Run("Reused", func(t *testing.T) {
		d := newDesk(t)
		machine := &fake{process.Place{Host: "box", BootID: "b1", PIDSpace: "p1"}, map[int64]process.Sighting{
			70: {Start: process.Start{Ms: 1000, Ticks: 50}}, 71: {Start: process.Start{Ms: 1000, Ticks: 50}},
		}}
		d.Processes = machine
		kept, reused := d.start(StartRequest{PID: ptr(int64(70))}), d.start(StartRequest{PID: ptr(int64(71))})
		d.age(kept)
		d.age(reused)
		// Meanwhile the clock was set, and one id was given again at once.
		machine.seen[70] = process.Sighting{Start: process.Start{Ms: 9_999_999, Ticks: 50}}
		machine.seen[71] = process.Sighting{Start: process.Start{Ms: 1010, Ticks: 51}}
		d.sweep(SweepRequest{})
		d.wantStatus(kept, "running", -99)
		d.wantStatus(reused, "orphaned", -3)
	})
	t.Run("OtherHost", func(t *testing.T) {
		d := newDesk(t)
		d.Processes = &fake{place: process.Place{Host: "far", BootID: "b0"}}
		id := d.start(StartRequest{PID: ptr(int64(70))})
		d.age(id)
		d.Processes = nil
		result := d.sweep(SweepRequest{})
		if len(result.Unknown) != 1 || result.Unknown[0].ID != id || !strings.Contains(result.Unknown[0].Reason, "far") {
			t.Errorf("got %+v", result)
		}
		d.wantStatus(id, "running", -99)
	})
	t.Run("DeadSupervisor", func(t *testing.T) {
		d := newDesk(t)
		d.begin("t")
		insert(d, "sup", "ocr review", gone, "datetime('now', '-20 minutes')", "datetime('now', '-15 minutes')")
		d.ExecutionUID = "me"
		insert(d, "me", "ocr review", gone, "datetime('now', '-20 minutes')", "datetime('now', '-15 minutes')")
		kid, dead, other := d.start(StartRequest{Name: "kid"}), "", d.start(StartRequest{Workflow: "t"})
		d.wantStatus("sup", "orphaned", -3) // starting sweeps
		d.exec("UPDATE command_executions SET finished_at = NULL, exit_code = NULL, pid = 2000000000, last_heartbeat_at = datetime('now', '-15 minutes') WHERE uid = 'sup'")
		done := "done-before"
		insert(d, done, "session-instance", "NULL", "datetime('now')", "datetime('now')")
		d.exec("UPDATE command_executions SET finished_at = datetime('now'), exit_code = 0 WHERE uid = 'done-before'")
		dead = "dead-kid"
		insert(d, dead, "session-instance", gone, "datetime('now', '-20 minutes')", "datetime('now', '-15 minutes')")
		dry := d.sweep(SweepRequest{DryRun: true})
		result := d.sweep(SweepRequest{})
		if !reflect.DeepEqual(dry, result) || len(result.Orphaned) != 2 || len(result.Ended) != 1 || result.Ended[0].ID != kid {
			t.Errorf("got %+v, dry run %+v", result, dry)
		}
		d.wantStatus("sup", "orphaned", -3)
		d.wantStatus(dead, "orphaned", -3) // its own death is what is known
		d.wantStatus(kid, "cancelled", -4)
		d.wantStatus(done, "done", 0)
		d.wantStatus("me", "running", -99) // the caller lives
		d.wantStatus(other, "running", -99)
	})
	t.Run("DeadInstanceAlone", func(t *testing.T) {
		d := newDesk(t)
		dead, sibling := d.start(StartRequest{PID: ptr(gone)}), d.start(StartRequest{})
		d.age(dead)
		d.age(sibling)
		d.sweep(SweepRequest{})
		d.wantStatus(dead, "orphaned", -3)
		d.wantStatus(sibling, "running", -99)
	})
	t.Run("NoDatabase", func(t *testing.T) {
		d := emptyDesk(t)
		for _, dry := range []bool{true, false} {
			if result := d.sweep(SweepRequest{DryRun: dry}); result.Orphaned == nil || len(result.Orphaned) != 0 {
				t.Errorf("got %+v", result)
			}
		}
		if _, err := os.Stat(d.Project.Database()); !os.IsNotExist(err) {
			t.Error("a database was made")
		}
	})
	// A sign of life between the look and the write keeps the row.
	t.Run("BeatMeanwhile", func(t *testing.T) {
		d := newDesk(t)
		id := d.start(StartRequest{PID: ptr(int64(70))})
		d.age(id)
		d.Processes = &beating{d: d, id: id}
		d.sweep(SweepRequest{})
		d.wantStatus(id, "running", -99)
	})
}

// beating is a machine on which the process gives a sign of life just after
// it was looked at for the first time.
type beating struct {
	d    *desk
	id   string
	seen bool
}

func (b *beating) Here() process.Place { return process.Place{} }

func (b *beating) Look(int64) process.Sighting {
	if !b.seen {
		b.seen = true
		c := caller(b.d.Project.Root)
		if _, err := Beat(context.Background(), c, b.id); err != nil {
			b.d.t.Error(err)
		}
	}
	return process.Sighting{Gone: true}
}

// TestSweepPlan: what ran long ago costs a sweep nothing, because it finds the
// unfinished processes by an index that holds no others.
func TestSweepPlan(t *testing.T) {
	d := newDesk(t)
	rows, err := d.open().Query("EXPLAIN QUERY PLAN " + gen.JournalRunning)
	must(t, err)
	defer rows.Close()
	found := false
	for rows.Next() {
		var id, parent, unused int
		var step string
		must(t, rows.Scan(&id, &parent, &unused, &step))
		switch {
		case strings.Contains(step, "INDEX idx_command_executions_unfinished"):
			found = true
		case step == "USE TEMP B-TREE FOR ORDER BY":
			// Of what was found.
		case !strings.Contains(step, "INTEGER PRIMARY KEY (rowid=?)"):
			t.Errorf("more than one row is looked at: %s", step)
		}
	}
	must(t, rows.Err())
	if !found {
		t.Error("the unfinished processes are not found by their index")
	}
}

// TestPlans: every query of the journal finds its rows by an index.
func TestPlans(t *testing.T) {
	d := newDesk(t)
	pool := d.open()
	for name, query := range hotQueries() {
		rows, err := pool.Query("EXPLAIN QUERY PLAN "+query, 1, 1, 1, 1, 1, 1, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			must(t, rows.Scan(&id, &parent, &unused, &step))
			steps++
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "INDEX") && step != "SCAN CONSTANT ROW" {
				t.Errorf("%s: %s", name, step)
			}
		}
		must(t, rows.Err())
		if steps == 0 {
			t.Errorf("%s has no plan", name)
		}
		must(t, rows.Close())
	}
}
