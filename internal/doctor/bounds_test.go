package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ocr/db"
	"ocr/internal/project"
)

// TestBudget: what was not looked at for want of time says so, and counts.
func TestBudget(t *testing.T) {
	p := soundProject(t)
	checks := examine(t, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram(), Budget: time.Nanosecond})
	for i, s := range specs() {
		want := OK
		if s.needs == theDatabase {
			want = Unknown
		}
		if c := checks[i]; c.Status != want && c.ID != "engine.write" || want == Unknown && !strings.Contains(c.Measured, "cut short") {
			t.Errorf("%s is %s: %s", c.ID, c.Status, c.Measured)
		}
	}
	if summary(checks).Status != Fail {
		t.Error("a report without data is no failure")
	}
}

// TestBusy: only what waits for others makes a report busy.
func TestBusy(t *testing.T) {
	waits := Check{Status: Unknown, cause: &db.Error{Kind: db.KindBusy}}
	for name, c := range map[string]struct {
		checks []Check
		want   bool
	}{
		"Sound":   {[]Check{{Status: OK}, {Status: Warn}}, false},
		"Waits":   {[]Check{{Status: OK}, waits}, true},
		"Broken":  {[]Check{{Status: Fail}, waits}, false},
		"Unknown": {[]Check{{Status: Unknown, cause: os.ErrPermission}, waits}, false},
	} {
		if got := summary(c.checks).Busy(); got != c.want {
			t.Errorf("%s: busy %v", name, got)
		}
	}
}

// hogged makes a project whose database another connection keeps for itself.
func hogged(t *testing.T, mode string) Request {
	t.Helper()
	p := soundProject(t)
	holder, err := openRaw(p.Database())
	must(t, err)
	t.Cleanup(func() { must(t, holder.Close()) })
	for _, statement := range []string{
		"PRAGMA journal_mode = " + mode, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE",
		"INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'x', 'x')",
	} {
		_, err := holder.Exec(statement)
		must(t, err)
	}
	return Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}
}

// TestLocked: a file with a rollback journal is read past its holder; one with
// a log cannot be, and the report is busy after a bounded wait.
func TestLocked(t *testing.T) {
	t.Run("RollbackJournal", func(t *testing.T) {
		hold(t, examine(t, hogged(t, "DELETE")), "data.journal_mode", Warn)
	})
	t.Run("Log", func(t *testing.T) {
		t.Parallel()
		report, err := Run(t.Context(), hogged(t, "WAL"))
		must(t, err)
		if !report.Busy() || report.Err(false) == nil {
			t.Errorf("busy %v, %v", report.Busy(), report.Err(false))
		}
	})
}

// TestOldVersions: a sound file of any earlier version needs nothing but the
// upgrade.
func TestOldVersions(t *testing.T) {
	for version := 1; version <= db.SharedLatest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			root := t.TempDir()
			_, err := project.Init(root)
			must(t, err)
			p := project.Project{Root: root}
			oldDatabase(t, p.Database(), version)
			hold(t, examine(t, Request{Start: root, Getenv: environment(t), Program: thisProgram()}), "schema.version", Warn)
			raw(t, p.Database(), "DROP TABLE user_notes")
			for _, c := range examine(t, Request{Start: root, Getenv: environment(t), Only: []string{"schema.tables"}}) {
				if c.Status != Fail {
					t.Errorf("without a table: %+v", c)
				}
			}
		})
	}
}

// TestRecordedFiles reads what other programs made: their manner of writing a
// schema is no drift.
func TestRecordedFiles(t *testing.T) {
	legacy := os.Getenv("LEGACY_DIR")
	if legacy == "" {
		t.Skip("LEGACY_DIR names no recorded files")
	}
	databases, err := filepath.Glob(filepath.Join(legacy, "*", ".ocr"))
	must(t, err)
	if len(databases) == 0 {
		t.Fatalf("%s holds no recorded files", legacy)
	}
	for _, dir := range databases {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			root := t.TempDir()
			must(t, os.CopyFS(filepath.Join(root, ".ocr"), os.DirFS(dir)))
			before := snapshotOf(t, root)
			for _, c := range examine(t, Request{Start: root, Getenv: environment(t), Only: []string{"schema"}}) {
				if c.Status != OK && c.ID != "schema.version" {
					t.Errorf("%s is %s: %s %v", c.ID, c.Status, c.Measured, c.Rows)
				}
			}
			if snapshotOf(t, root) != before {
				t.Error("looking changed something")
			}
		})
	}
}

// TestOwnProcess: whoever calls lives, however old its heartbeat is; and what
// the lease allows is no complaint.
func TestOwnProcess(t *testing.T) {
	p := soundProject(t)
	raw(t, p.Database(), fmt.Sprintf("UPDATE command_executions SET pid = %d, last_heartbeat_at = datetime('now', '-1 hour') WHERE uid = 'living'", deadPID(t)))
	in := Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}
	hold(t, examine(t, in), "processes.orphans", Warn)
	settle(&in, "OCR_DASHBOARD_EXECUTION_UID", "living")
	hold(t, examine(t, in), "", "")
}

// TestPanicBeside: a fault in a check that runs beside the others reaches the
// caller, who can tell of it.
func TestPanicBeside(t *testing.T) {
	p := soundProject(t)
	x := newExam(Request{Start: p.Root, Getenv: environment(t)})
	defer func() {
		if cause := recover(); cause != "a fault" {
			t.Errorf("the caller sees %v", cause)
		}
	}()
	x.inside(t.Context(), []spec{{id: "data.fault", needs: theDatabase, whole: true, run: func(context.Context, *exam) result { panic("a fault") }}})
	t.Error("nothing was seen of the fault")
}
