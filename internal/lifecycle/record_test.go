package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"ocr/internal/lifecycle"
)

// TestEndedProcesses ends what a session leaves behind, rows without a uid as
// well, and reports what it has ended.
func TestEndedProcesses(t *testing.T) {
	t.Parallel()
	for _, caller := range []string{"", "own", "4"} {
		d := newDesk(t)
		d.begin("s", "review")
		d.sql(`INSERT INTO command_executions (id, command, uid, workflow_id) VALUES
			(1, 'session-instance', 'u', 's'), (2, 'session-instance', NULL, 's'), (3, 'session-instance', '', 's'),
			(4, 'review', NULL, 's'), (5, 'review', 'own', 's')`)
		d.ExecutionUID = caller
		got, err := d.finish("s", true)
		must(t, err)
		left := map[string]string{"": "", "own": "5\n", "4": "4\n"}[caller]
		if rows := d.rows("SELECT id FROM command_executions WHERE finished_at IS NULL"); rows != left {
			t.Errorf("caller %q: left %q, want %q", caller, rows, left)
		}
		if want := int64(5 - strings.Count(left, "\n")); got.Ended != want {
			t.Errorf("caller %q: %d ended, want %d", caller, got.Ended, want)
		}
	}
}

// TestUnloggedRound works in a round or run that only the row says was opened:
// the log has it from then on, and lowering the row takes nothing back.
func TestUnloggedRound(t *testing.T) {
	t.Parallel()
	verbs := map[string]func(d *desk) error{
		"Advance": func(d *desk) error { _, err := d.advance("s", "synthesis"); return err },
		"Complete": func(d *desk) error {
			if strings.HasPrefix(d.rows("SELECT workflow_type FROM sessions"), "map") {
				_, err := d.completeMap("s", aMap)
				return err
			}
			_, err := d.completeRound("s", changes)
			return err
		},
		"Resume": func(d *desk) error {
			_, err := lifecycle.Resume(t.Context(), d.Caller, lifecycle.ResumeRequest{SessionID: "s"})
			return err
		},
		"Abort": func(d *desk) error { _, err := d.finish("s", true); return err },
	}
	for _, workflow := range []string{"review", "map"} {
		for name, verb := range verbs {
			d := newDesk(t)
			d.Owner = "me"
			d.completed("s", workflow)
			column := map[string]string{"review": "current_round", "map": "current_map_run"}[workflow]
			d.sql(`INSERT INTO orchestration_events (session_id, event_type, created_at) VALUES ('s', 'session_resumed', '2020-01-01 00:00:00');
				UPDATE sessions SET current_phase = 'synthesis', ` + column + ` = 2`)
			before := len(d.log("s"))
			must(t, verb(d))
			if log := d.log("s")[before:]; log[0] != "round_started" || slices.Contains(log[1:], "round_started") {
				t.Errorf("%s of a %s: log %v", name, workflow, log)
			}
			if name != "Resume" && name != "Abort" {
				_ = verb(d)
				if log := strings.Join(d.log("s"), " "); strings.Count(log, "round_started") != 1 {
					t.Errorf("%s of a %s, again: %s", name, workflow, log)
				}
			}
			d.sql("UPDATE sessions SET " + column + " = 1")
			if state := d.rows("SELECT " + column + ", completeness_state FROM session_completeness"); !strings.HasPrefix(state, "2|") || strings.Contains(state, "|complete") {
				t.Errorf("%s of a %s: %q", name, workflow, state)
			}
		}
	}
}

// TestBeginInterrupted goes on in the phase that another program interrupted
// when it closed the session because of its files.
func TestBeginInterrupted(t *testing.T) {
	t.Parallel()
	synced := `INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, metadata)
		VALUES ('s', 'session_synced', 'complete', 8, '{"source":"filesystem_backfill"}');
		UPDATE sessions SET status = 'closed', current_phase = 'complete', phase_number = 8`
	again := func(d *desk, workflow string) lifecycle.BeginResult {
		t.Helper()
		got, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: workflow})
		must(t, err)
		return got
	}
	d := newDesk(t)
	d.completed("s", "review")
	_, err := lifecycle.Advance(t.Context(), d.Caller, lifecycle.AdvanceRequest{SessionID: "s", Phase: "context", Round: 2})
	must(t, err)
	d.walk("s", "reviews")
	d.sql(synced)
	if got := again(d, "review"); got.Phase != "reviews" || got.Round != 2 || !d.noticed("session_synced") {
		t.Errorf("%+v, notices %q", got, d.notices)
	}
	if event := d.rows("SELECT event_type, phase, phase_number, round FROM orchestration_events ORDER BY id DESC LIMIT 1"); event != "session_resumed|reviews|4|2\n" {
		t.Errorf("event %q", event)
	}
	if row := d.rows("SELECT status, current_phase, phase_number, current_round FROM sessions"); row != "active|reviews|4|2\n" {
		t.Errorf("row %q", row)
	}
	if drift := d.rows("SELECT * FROM session_drift"); drift != "" {
		t.Errorf("drift %q", drift)
	}
	if visits := d.rows("SELECT phase FROM phase_timings WHERE round = 2 ORDER BY visit DESC LIMIT 2"); visits != "reviews\nreviews\n" {
		t.Errorf("visits %q", visits)
	}
	// A map, and one whose row alone knows of the run.
	d = newDesk(t)
	d.begin("s", "map")
	d.walk("s", "flow-analysis")
	d.sql(synced)
	if got := again(d, "map"); got.Phase != "flow-analysis" || got.MapRun != 1 {
		t.Errorf("%+v", got)
	}
	// One that was found on disk, or was completed, starts in the first phase.
	d = newDesk(t)
	d.sql("INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', 'review', 's');" + synced)
	if got := again(d, "review"); got.Phase != "context" || d.noticed("session_synced") {
		t.Errorf("%+v, notices %q", got, d.notices)
	}
	d = newDesk(t)
	d.completed("s", "review")
	d.sql(synced)
	if got := again(d, "review"); got.Phase != "context" || got.Round != 2 {
		t.Errorf("%+v", got)
	}
	d = newDesk(t)
	d.begin("s", "review")
	d.walk("s", "reviews")
	_, err = d.finish("s", true)
	must(t, err)
	if got := again(d, "review"); got.Phase != "context" {
		t.Errorf("%+v", got)
	}
}

// TestBeginOtherBranch keeps the branch, and says so.
func TestBeginOtherBranch(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.completed("s", "review")
	got, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "other", Workflow: "review"})
	must(t, err)
	if got.Branch != "b" || !d.noticed(`"other"`) || d.rows("SELECT branch FROM sessions") != "b\n" {
		t.Errorf("%+v, notices %q", got, d.notices)
	}
}

// TestCompleteAgain says whether the payload is the one on record.
func TestCompleteAgain(t *testing.T) {
	t.Parallel()
	for workflow, payloads := range map[string][2]string{"review": {changes, approve}, "map": {aMap, `{"schema_version":1,"sections":[]}`}} {
		d := newDesk(t)
		complete := d.completeRound
		if workflow == "map" {
			complete = d.completeMap
		}
		d.begin("s", workflow)
		d.walk("s", "synthesis")
		for i, want := range []struct {
			payload          string
			changed, differs bool
		}{{payloads[0], true, false}, {payloads[0], false, false}, {payloads[1], false, true}} {
			got, err := complete("s", want.payload)
			must(t, err)
			if got.Changed != want.changed || got.PayloadDiffers != want.differs {
				t.Errorf("%s, call %d: %+v", workflow, i, got)
			}
		}
	}
}

// TestTriageMoves completes a round again with other severities: triage and
// notes stay with the finding of the same reviewer, title and file, and what
// the payload does not have any more stays if somebody wrote on it.
func TestTriageMoves(t *testing.T) {
	t.Parallel()
	const payload = `{"schema_version":1,"verdict":"APPROVE","reviewers":[{"type":"principal","instance":1,"findings":[
		{"title":"Totals are rounded twice","category":"style","severity":"high","summary":"s","file_path":"cart.go","line_start":3},
		{"title":"Totals are rounded twice","category":"style","severity":"high","summary":"s","file_path":"cart.go","line_start":9},
		{"title":"Name the constant","category":"style","severity":"info","summary":"s"}]}]}`
	d := newDesk(t)
	d.begin("s", "review")
	d.walk("s", "synthesis")
	_, err := d.completeRound("s", payload)
	must(t, err)
	d.sql(`INSERT INTO user_finding_progress (finding_id, status) VALUES (2, 'wont_fix');
		INSERT INTO user_notes (target_type, target_id, content) VALUES ('finding', '2', 'meant so'), ('finding', '3', 'why?');
		UPDATE sessions SET current_phase = 'synthesis', phase_number = 7`)
	other := strings.NewReplacer("high", "low", "Name the constant", "Name the other").Replace(payload)
	got, err := d.completeRound("s", other)
	must(t, err)
	rows := d.rows(`SELECT f.id, f.severity, f.line_start, p.status, n.content FROM review_findings AS f
		LEFT JOIN user_finding_progress AS p ON p.finding_id = f.id
		LEFT JOIN user_notes AS n ON n.target_type = 'finding' AND n.target_id = CAST(f.id AS TEXT) ORDER BY f.id`)
	if want := "1|low|3|<nil>|<nil>\n2|low|9|wont_fix|meant so\n3|info|<nil>|<nil>|why?\n4|info|<nil>|<nil>|<nil>\n"; rows != want {
		t.Errorf("findings\n%swant\n%s", rows, want)
	}
	if want := []lifecycle.KeptRow{{Kind: "finding", ID: 3, Name: "principal-1: Name the constant"}}; !slices.Equal(got.Kept, want) || !d.noticed("Name the constant") {
		t.Errorf("kept %+v, notices %q", got.Kept, d.notices)
	}
}

// TestTicksMove completes a run again with its files in other sections: ticks
// and notes follow the path.
func TestTicksMove(t *testing.T) {
	t.Parallel()
	section := func(number, files string) string {
		text := `{"section_number":` + number + `,"title":"T","files":[`
		for i, path := range strings.Fields(files) {
			if i > 0 {
				text += ","
			}
			text += `{"file_path":"` + path + `","role":"r","lines_added":1,"lines_deleted":0}`
		}
		return text + "]}"
	}
	run := func(sections ...string) string {
		return `{"schema_version":1,"sections":[` + strings.Join(sections, ",") + "]}"
	}
	d := newDesk(t)
	d.begin("s", "map")
	d.walk("s", "synthesis")
	_, err := d.completeMap("s", run(section("1", "a b c"), section("2", "c d"), section("3", "e")))
	must(t, err)
	// a moves; c is in 2 only from now on; d stays; e goes, and b unseen.
	d.sql(`INSERT INTO user_file_progress (map_file_id, is_reviewed) SELECT id, 1 FROM map_files WHERE id IN (1, 3, 6);
		INSERT INTO user_notes (target_type, target_id, content) VALUES ('file', '1', 'look'), ('section', '1', 'big');
		UPDATE sessions SET current_phase = 'synthesis', phase_number = 5`)
	got, err := d.completeMap("s", run(section("2", "a c d"), section("4", "f g"), section("5", "h")))
	must(t, err)
	rows := d.rows(`SELECT f.id, x.section_number, f.file_path, p.is_reviewed FROM map_files AS f
		JOIN map_sections AS x ON x.id = f.section_id LEFT JOIN user_file_progress AS p ON p.map_file_id = f.id
		WHERE f.file_path IN ('a', 'b', 'c', 'd', 'e') ORDER BY f.file_path`)
	if want := "1|2|a|1\n3|2|c|1\n5|2|d|<nil>\n6|3|e|1\n"; rows != want {
		t.Errorf("files\n%swant\n%s", rows, want)
	}
	if note := d.rows("SELECT target_id FROM user_notes WHERE target_type = 'file'"); note != "1\n" {
		t.Errorf("note on %q", note)
	}
	want := []lifecycle.KeptRow{{Kind: "file", ID: 6, Name: "e"}, {Kind: "section", ID: 1, Name: "section 1"}}
	if !slices.Equal(got.Kept, want) {
		t.Errorf("kept %+v, want %+v", got.Kept, want)
	}
}
