package doctor

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ocr/internal/lifecycle"
	"ocr/internal/project"
)

// fixOutcomes says what becomes of each damage that Fix has something to say
// about.
var fixOutcomes = map[string]string{
	"Older": Mended, "RollbackJournal": Mended, "Duplicates": Mended,
	"OrphanArtifact": Mended, "FindingsGone": Mended, "VerdictChanged": Mended, "MapFilesGone": Mended, "ManyOrphans": Mended, "IndexGone": Mended, "CloseGuardGone": Mended, "ViewGone": Mended,
	"ProcessDead": Mended, "ClosedWithoutProof": Mended, "ClosedByAnOldReason": Mended, "CompleteButOpen": Mended, "Stale": Mended, "StaleInISO": Mended,
	"IndexOnOtherColumn": Mended, "TriggerWeaker": Mended, "ViewOther": Mended,
	// Nobody can tell what is on disk.
	"ClosedAndHidden": Left,
	// Events are never deleted.
	"OrphanEvent": Left,
	// Nor is what people wrote.
	"OrphansOfPeople": Left,
	"Newer":           Left,
	// There is no fix that loses nothing.
	"Dirty": Mended, "FreeListBroken": "", "FreeListTooShort": "", "FreePageInUse": "", "PageZeroed": "", "UsedPageZeroed": "", "IndexPageOverwritten": "", "IndexRowGone": "", "Truncated": "",
	"DatabaseIsText": "", "DatabaseEmpty": "", "DatabaseGone": "", "OtherTables": "", "TableGone": "", "PhasePastTheLog": "",
}

// TestFix mends every damage of the list that can be mended, leaves the
// others alone, loses no row of sessions, events or processes, and does
// nothing the second time.
func TestFix(t *testing.T) {
	for _, c := range damages() {
		outcome, listed := fixOutcomes[c.name]
		if !listed {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := soundProject(t)
			in := Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}
			c.damage(t, p, &in)
			kept := protectedRows(t, p)
			before := snapshotOf(t, p.Root)

			plan := mend(t, p, in, true)
			if snapshotOf(t, p.Root) != before {
				t.Error("a dry run changed something")
			}
			repair := mend(t, p, in, false)
			if outcome == "" {
				if len(plan.Fixes)+len(repair.Fixes) != 0 || snapshotOf(t, p.Root) != before {
					t.Errorf("did something: %+v", repair.Fixes)
				}
				hold(t, repair.Report.Checks, c.id, c.status)
				return
			}
			if len(plan.Fixes) != 1 || outcome == Mended && plan.Fixes[0].Outcome != Planned {
				t.Errorf("a dry run says %+v", plan.Fixes)
			}
			if len(repair.Fixes) != 1 || repair.Fixes[0].Check != c.id || repair.Fixes[0].Outcome != outcome || repair.Fixes[0].Detail == "" {
				t.Fatalf("fixes %+v, want %s to be %s", repair.Fixes, c.id, outcome)
			}
			if outcome == Mended {
				hold(t, repair.Report.Checks, "", "")
			} else {
				hold(t, repair.Report.Checks, c.id, c.status)
			}
			for table, ids := range kept {
				if now := protectedRows(t, p)[table]; !strings.HasPrefix(now, ids) {
					t.Errorf("%s: rows %s before, %s after", table, ids, now)
				}
			}
			holdSnapshot(t, p, repair)

			settled := snapshotOf(t, p.Root)
			again := mend(t, p, in, false)
			if outcome == Left && snapshotOf(t, p.Root) != settled {
				t.Error("the second time changed something")
			}
			if outcome == Mended && (len(again.Fixes) != 0 || snapshotOf(t, p.Root) != settled) {
				t.Errorf("the second time did something: %+v", again.Fixes)
			}
		})
	}
	for name := range fixOutcomes {
		found := false
		for _, c := range damages() {
			found = found || c.name == name
		}
		if !found {
			t.Errorf("no damage is named %s", name)
		}
	}
}

// TestFixCatalog: whatever says that it can be mended has a fix and a place in
// the order, and the other way round.
func TestFixCatalog(t *testing.T) {
	ordered := map[string]bool{}
	for _, id := range fixOrder {
		ordered[id] = true
	}
	for _, s := range specs() {
		if (s.fix != nil) != (s.fixes != "") || (s.fix != nil) != ordered[s.id] {
			t.Errorf("%s: fix, its text and its place in fixOrder belong together", s.id)
		}
	}
}

// TestFixSound touches nothing where nothing is wrong.
func TestFixSound(t *testing.T) {
	p := soundProject(t)
	before := snapshotOf(t, p.Root)
	repair := mend(t, p, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}, false)
	if len(repair.Fixes) != 0 || repair.Snapshot != "" || snapshotOf(t, p.Root) != before {
		t.Errorf("did something: %+v", repair)
	}
}

// TestFixKeepsWhatPeopleWrote: an orphan goes, one with a person's mark stays,
// and so does the one that it hangs on.
func TestFixKeepsWhatPeopleWrote(t *testing.T) {
	p := soundProject(t)
	raw(t, p.Database(),
		"INSERT INTO review_rounds (id, session_id, round_number) VALUES (50, 'gone', 1), (51, 'gone', 2), (52, 'gone', 3)",
		"INSERT INTO reviewer_outputs (id, round_id, reviewer_type, file_path) VALUES (50, 50, 'a', 'x'), (51, 51, 'a', 'x')",
		"INSERT INTO review_findings (id, reviewer_output_id, title, severity) VALUES (50, 50, 'marked', 'low'), (51, 50, 'plain', 'low'), (52, 51, 'noted', 'low'), (53, 51, 'plain', 'low')",
		"INSERT INTO user_finding_progress (finding_id, status) VALUES (50, 'fixed')",
		"INSERT INTO user_notes (target_type, target_id, content) VALUES ('finding', '52', 'mine')")
	repair := mend(t, p, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram(), Only: []string{"data.foreign_keys"}}, false)
	if len(repair.Fixes) != 1 || repair.Fixes[0].Outcome != Left || repair.Snapshot == "" {
		t.Errorf("%+v", repair)
	}
	if again := mend(t, p, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}, false); again.Snapshot != "" {
		t.Error("a further snapshot, for nothing")
	}
	for query, want := range map[string]string{
		"SELECT group_concat(id) FROM review_findings WHERE id >= 50":  "50,52",
		"SELECT group_concat(id) FROM reviewer_outputs WHERE id >= 50": "50,51",
		"SELECT group_concat(id) FROM review_rounds WHERE id >= 50":    "50,51",
		"SELECT count(*) FROM user_finding_progress":                   "1",
		"SELECT count(*) FROM user_notes":                              "1",
	} {
		if got := value(t, p.Database(), query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestFixDamaged mends nothing in a damaged file, whatever it could mend
// otherwise: what was asked for does not matter.
func TestFixDamaged(t *testing.T) {
	for _, only := range [][]string{nil, {"schema.indexes"}} {
		p := soundProject(t)
		raw(t, p.Database(), "DROP INDEX idx_events_type")
		freePages(t, p)
		overwrite(t, p.Database(), 32, []byte("\x00\x0f\x42\x3f"))
		before := snapshotOf(t, p.Root)
		repair := mend(t, p, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram(), Only: only}, false)
		if len(repair.Fixes) != 1 || repair.Fixes[0].Outcome != Left || !strings.Contains(repair.Fixes[0].Detail, "data.integrity stands in the way") || repair.Snapshot != "" {
			t.Errorf("%v: %+v", only, repair)
		}
		if snapshotOf(t, p.Root) != before {
			t.Errorf("%v: something changed", only)
		}
	}
}

// TestFixWithoutRoom changes nothing when no snapshot can be made.
func TestFixWithoutRoom(t *testing.T) {
	p := soundProject(t)
	raw(t, p.Database(), "DROP INDEX idx_events_type", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'x', zeroblob(9000000))")
	p.Root = onSmallDisk(t, p, "size=14m")
	repair := mend(t, p, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}, false)
	if len(repair.Fixes) != 1 || repair.Fixes[0].Outcome != Left || !strings.Contains(repair.Fixes[0].Detail, "snapshot") {
		t.Errorf("%+v", repair.Fixes)
	}
	if got := value(t, p.Database(), "SELECT count(*) FROM sqlite_schema WHERE name = 'idx_events_type'"); got != "0" {
		t.Error("the index is back without a snapshot")
	}
}

func mend(t *testing.T, p project.Project, in Request, dryRun bool) Repair {
	t.Helper()
	settings, _ := p.Runtime(in.Getenv)
	caller := lifecycle.Caller{Project: p, Runtime: settings, Notice: func(string) {}}
	repair, err := Fix(t.Context(), caller, in, dryRun)
	must(t, err)
	return repair
}

// protectedRows are the ids of the rows that nothing may take away, where the
// file can be read.
func protectedRows(t *testing.T, p project.Project) map[string]string {
	t.Helper()
	found := map[string]string{}
	pool, err := openRaw(p.Database())
	must(t, err)
	defer pool.Close()
	for table, column := range map[string]string{"sessions": "id", "orchestration_events": "id", "command_executions": "id"} {
		var ids string
		if pool.QueryRow("SELECT IFNULL(group_concat(i), '') FROM (SELECT "+column+" AS i FROM "+table+" ORDER BY rowid)").Scan(&ids) == nil {
			found[table] = ids
		}
	}
	return found
}

// holdSnapshot: what was changed has a copy of the time before, and a line in
// the journal.
func holdSnapshot(t *testing.T, p project.Project, repair Repair) {
	t.Helper()
	fixed := repair.Fixes[0]
	if fixed.After == "" {
		if repair.Snapshot != "" {
			t.Errorf("a snapshot of a file that was not to be written: %s", repair.Snapshot)
		}
		return
	}
	if fixed.Check != "schema.version" {
		if x := (&exam{}); x.snapshotFault(t.Context(), repair.Snapshot, readHead(repair.Snapshot)) != "" {
			t.Errorf("the snapshot %s cannot be used", repair.Snapshot)
		}
	} else if _, err := os.Stat(p.Database() + ".bak.v13"); err != nil {
		t.Error(err)
	}
	file, err := os.Open(JournalPath(p.Data()))
	must(t, err)
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); lines++ {
		var line struct{ At, Check, Outcome, Snapshot string }
		must(t, json.Unmarshal(scanner.Bytes(), &line))
		if line.Check != fixed.Check || line.Outcome != fixed.Outcome || filepath.Base(line.Snapshot) != filepath.Base(repair.Snapshot) && repair.Snapshot != "" {
			t.Errorf("the journal says %+v", line)
		}
	}
	if lines != 1 {
		t.Errorf("the journal has %d lines", lines)
	}
}
