package care_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ocr/db"
	"ocr/internal/care"
)

// bulky fills the database and empties it again, so that there is free room.
func (d *desk) bulky() {
	d.session("s", "closed", "2020-01-02 00:00:00")
	d.run(`
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200)
INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content)
SELECT 's', 'context', 'f' || i, hex(randomblob(4000)) FROM n`,
		"DELETE FROM markdown_artifacts WHERE id % 10 <> 0",
		"PRAGMA user_version = 7")
}

func TestVacuum(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.bulky()
	before, rows := d.counts(), d.text("SELECT id || content FROM markdown_artifacts ORDER BY id")
	done, err := care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{})
	must(t, err)
	info, err := os.Stat(d.Project.Database())
	must(t, err)
	if done.BytesAfter != info.Size() || done.BytesAfter > done.BytesBefore/2 || done.FreeBefore < done.BytesBefore/2 || done.FreeAfter != 0 || done.Pending {
		t.Errorf("%+v, file %d", done, info.Size())
	}
	if after := d.counts(); !maps.Equal(after, before) || d.text("SELECT id || content FROM markdown_artifacts ORDER BY id") != rows {
		t.Errorf("rows changed: %v, want %v", after, before)
	}
	if got := d.text("SELECT user_version || ' ' || (SELECT application_id FROM pragma_application_id) || ' ' || (SELECT journal_mode FROM pragma_journal_mode) FROM pragma_user_version"); got != "7 0 wal" {
		t.Errorf("marks %q", got)
	}
	if !strings.Contains(done.Snapshot, ".bak.vacuum.") {
		t.Errorf("snapshot %q", done.Snapshot)
	}
	must(t, db.CheckCopy(t.Context(), done.Snapshot))
	t.Run("NoSnapshot", func(t *testing.T) {
		done, err := care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{NoSnapshot: true})
		must(t, err)
		if copies, _ := filepath.Glob(d.Project.Database() + ".bak.*"); len(copies) != 1 || done.Snapshot != "" {
			t.Errorf("%v %+v", copies, done)
		}
	})
}

// TestVacuum_FreeList: a file whose list of free pages is damaged is made sound
// without losing a row, and the snapshot made first is sound as well.
func TestVacuum_FreeList(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]struct {
		offset int64
		bytes  string
	}{
		"FirstPage": {32, "\x00\x0f\x42\x3f"},
		"Count":     {36, "\x00\x00\x00\x63"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.bulky()
			d.run("PRAGMA wal_checkpoint(TRUNCATE)")
			rows := d.text("SELECT group_concat(id || content) FROM (SELECT * FROM markdown_artifacts ORDER BY id)")
			file, err := os.OpenFile(d.Project.Database(), os.O_RDWR, 0)
			must(t, err)
			_, err = file.WriteAt([]byte(damage.bytes), damage.offset)
			must(t, errors.Join(err, file.Close()))
			if err := db.CheckCopy(t.Context(), d.Project.Database()); db.KindOf(err) != db.KindCorrupt {
				t.Fatalf("the damage is not seen: %v", err)
			}
			if health, err := db.ReadHealth(t.Context(), d.Project.Database(), d.Options()); err != nil || len(health.IntegrityErrors) == 0 {
				t.Fatalf("db doctor does not see the damage: %v %v", health.IntegrityErrors, err)
			}
			done, err := care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{})
			must(t, err)
			must(t, db.CheckCopy(t.Context(), done.Snapshot))
			must(t, db.CheckCopy(t.Context(), d.Project.Database()))
			d.run("INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', zeroblob(20000))")
			if after := d.text("SELECT group_concat(id || content) FROM (SELECT * FROM markdown_artifacts ORDER BY id)"); after != rows {
				t.Error("rows changed")
			}
		})
	}
}

// TestVacuum_Refuses: neither a dashboard nor another user is disturbed; with
// force it goes on beside them. Prune asks the same.
func TestVacuum_Refuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.bulky()
	refused := func(kind string) {
		t.Helper()
		files := d.files()
		_, err := care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{})
		d.wantKind(err, kind)
		_, err = care.Prune(t.Context(), d.Caller, care.PruneOptions{KeepSessions: ptr(int64(0))})
		d.wantKind(err, kind)
		if d.files() != files {
			t.Error("a refusal changed something")
		}
	}
	user := start(t, "hold", d.Project.Database())
	pid := fmt.Sprint(user.cmd.Process.Pid)
	must(t, os.WriteFile(d.Project.DashboardPID(), []byte(pid+"\n"), 0o644))
	refused(care.KindDashboard)
	must(t, os.WriteFile(d.Project.DashboardPID(), []byte("not a number"), 0o644))
	refused(care.KindInUse)
	_, err := care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{})
	if _, linux := os.Stat("/proc/locks"); linux == nil && !strings.Contains(err.Error(), "process "+pid) {
		t.Errorf("it does not say who: %v", err)
	}
	must(t, os.WriteFile(d.Project.DashboardPID(), []byte(pid), 0o644))
	_, err = care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{Force: true})
	must(t, err)
	if len(d.notices) != 2 {
		t.Errorf("notices: %q", d.notices)
	}
	must(t, user.end())
	must(t, user.cmd.Wait())
	_, err = care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{})
	must(t, err)
}

// TestVacuum_Writer: beside a process that writes all the time, no row of
// either is lost.
func TestVacuum_Writer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.bulky()
	before := d.text("SELECT group_concat(id) FROM markdown_artifacts")
	writer := start(t, "write", d.Project.Database())
	done := 0
	for range 3 {
		_, err := care.Vacuum(t.Context(), d.Caller, care.VacuumOptions{Force: true, NoSnapshot: true})
		if err == nil {
			done++
		} else if db.KindOf(err) != db.KindBusy {
			t.Fatal(err)
		}
	}
	must(t, writer.end())
	line, err := writer.out.ReadString('\n')
	must(t, err)
	must(t, writer.cmd.Wait())
	if got := d.text("SELECT count(*) FROM user_notes"); got != strings.TrimSpace(line) {
		t.Errorf("%s rows, the writer wrote %s", got, line)
	}
	if after := d.text("SELECT group_concat(id) FROM markdown_artifacts"); after != before {
		t.Error("rows changed")
	}
	if fault := d.text("PRAGMA integrity_check"); fault != "ok" || done == 0 {
		t.Errorf("%s after %d vacuums", fault, done)
	}
}

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	user := start(t, "hold", d.Project.Database())
	d.session("s", "closed", "2020-01-02 00:00:00")
	done, err := care.Checkpoint(t.Context(), d.Caller)
	must(t, err)
	if done.LogBefore == 0 || done.LogAfter != 0 {
		t.Errorf("%+v", done)
	}
	must(t, user.end())
	t.Run("HeldBack", func(t *testing.T) {
		reader := start(t, "read", d.Project.Database())
		d.session("t", "closed", "2020-01-02 00:00:00")
		_, err := care.Checkpoint(t.Context(), d.Caller)
		if db.KindOf(err) != db.KindBusy {
			t.Fatal(err)
		}
		want := fmt.Sprintf("process %d (care.test, reading)", reader.cmd.Process.Pid)
		if _, linux := os.Stat("/proc/locks"); linux == nil && !strings.Contains(err.Error(), want) {
			t.Errorf("it does not say who: %v", err)
		}
	})
	t.Run("NoDatabase", func(t *testing.T) {
		d.Project.Root = filepath.Dir(d.Project.Root)
		if _, err := care.Checkpoint(t.Context(), d.Caller); db.KindOf(err) != db.KindNoDatabase {
			t.Error(err)
		}
	})
}
