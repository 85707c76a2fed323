package lifecycle_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ocr/internal/artifact"
	"ocr/internal/lifecycle"
)

// noWarnings are those of a payload without unknown keys: an empty list, no nil.
var noWarnings = artifact.Warnings{First: []artifact.Problem{}}

func TestCompleteRound(t *testing.T) {
	t.Parallel()
	complete := func(d *desk, in lifecycle.CompleteRequest) func() error {
		in.SessionID = "s"
		if in.Payload == nil {
			in.Payload = []byte(approve)
		}
		return func() error { _, err := lifecycle.CompleteRound(t.Context(), d.Caller, in); return err }
	}
	atSynthesis := func(t *testing.T) *desk {
		d := newDesk(t)
		d.begin("s", "review")
		d.walk("s", "synthesis")
		return d
	}
	metaPath := func(d *desk) string {
		return filepath.Join(d.Project.Sessions(), "s", "rounds", "round-1", "round-meta.json")
	}

	t.Run("OK", func(t *testing.T) {
		d := atSynthesis(t)
		final := filepath.Join(filepath.Dir(metaPath(d)), "final.md")
		must(t, os.MkdirAll(filepath.Dir(final), 0o755))
		must(t, os.WriteFile(final, []byte("# Review\n"), 0o644))
		got, err := lifecycle.CompleteRound(t.Context(), d.Caller, lifecycle.CompleteRequest{
			SessionID: "s", Payload: []byte(changes), Number: 1, RequireFinal: true})
		must(t, err)
		if want := (lifecycle.CompleteResult{SessionID: "s", Number: 1, MetaPath: metaPath(d), Warnings: noWarnings, Changed: true, Kept: []lifecycle.KeptRow{}, Outlook: got.Outlook}); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		events := d.rows("SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events ORDER BY id DESC LIMIT 2")
		want := "phase_transition|complete|8|1|<nil>\n" +
			`round_completed|synthesis|7|1|{"verdict":"REQUEST CHANGES","blocker_count":1,"should_fix_count":0,"suggestion_count":0,"reviewer_count":1,"total_finding_count":2,"source":"orchestrator"}` + "\n"
		if events != want {
			t.Errorf("events %s, want %s", events, want)
		}
		if row := d.rows("SELECT status, current_phase, phase_number, current_round FROM sessions"); row != "active|complete|8|1\n" {
			t.Errorf("row %q", row)
		}
		round := d.rows("SELECT round_number, verdict, blocker_count, suggestion_count, should_fix_count, final_md_path, source, reviewer_count, total_finding_count FROM review_rounds")
		if round != "1|REQUEST CHANGES|1|0|0|"+final+"|orchestrator|1|2\n" {
			t.Errorf("round %q", round)
		}
		findings := d.rows(`SELECT o.reviewer_type, o.instance_number, o.file_path, o.finding_count, f.title, f.severity, f.file_path, f.line_start, f.is_blocker, f.category
			FROM review_findings AS f JOIN reviewer_outputs AS o ON o.id = f.reviewer_output_id ORDER BY f.id`)
		review := filepath.Join(filepath.Dir(final), "reviews", "principal-1.md")
		if findings != "principal|1|"+review+"|2|Totals are rounded twice|high|cart.go|3|1|blocker\n"+
			"principal|1|"+review+"|2|Name the constant|info|<nil>|<nil>|0|style\n" {
			t.Errorf("findings %q", findings)
		}
		text, err := os.ReadFile(metaPath(d))
		must(t, err)
		if _, err := artifact.ParseRound(text); err != nil {
			t.Errorf("the file is no sound payload: %v", err)
		}
	})

	t.Run("Again", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		before := d.all()
		for _, payload := range []string{changes, approve} {
			d.notices = nil
			got, err := d.completeRound("s", payload)
			must(t, err)
			if got.Number != 1 || got.MetaPath != metaPath(d) || d.noticed("differs") != (payload == approve) {
				t.Errorf("%+v, notices %q", got, d.notices)
			}
		}
		if d.all() != before {
			t.Error("completing again changed something")
		}
	})

	t.Run("AgainWhenClosed", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		_, err := d.finish("s", false)
		must(t, err)
		before := d.all()
		must(t, complete(d, lifecycle.CompleteRequest{Payload: []byte(changes)})())
		if d.all() != before {
			t.Error("completing again changed something")
		}
	})

	t.Run("EarlierRound", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		_, err := lifecycle.Advance(t.Context(), d.Caller, lifecycle.AdvanceRequest{SessionID: "s", Phase: "context", Round: 2})
		must(t, err)
		d.walk("s", "synthesis")
		before := d.all()
		must(t, complete(d, lifecycle.CompleteRequest{Payload: []byte(changes), Number: 1})())
		if d.all() != before {
			t.Error("completing an earlier round again changed something")
		}
	})

	t.Run("LostFile", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		must(t, os.Remove(metaPath(d)))
		d.refused(lifecycle.Invariant, lifecycle.KindOtherPayload, complete(d, lifecycle.CompleteRequest{}))
		log := d.log("s")
		must(t, complete(d, lifecycle.CompleteRequest{Payload: []byte(changes)})())
		if _, err := os.Stat(metaPath(d)); err != nil || !slices.Equal(d.log("s"), log) {
			t.Errorf("%v, log %v", err, d.log("s"))
		}
	})

	t.Run("LostFileWithoutRecord", func(t *testing.T) {
		// Another program's event may say nothing that a payload could be held to.
		d := atSynthesis(t)
		d.sql(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('s', 'round_completed', 'synthesis', 7, 1);
			UPDATE sessions SET current_phase = 'complete', phase_number = 8`)
		d.refused(lifecycle.Invariant, lifecycle.KindOtherPayload, complete(d, lifecycle.CompleteRequest{}))
	})

	t.Run("BackAtSynthesis", func(t *testing.T) {
		// Another program moved the row back: completing means completing.
		d := newDesk(t)
		d.completed("s", "review")
		d.sql("UPDATE sessions SET current_phase = 'synthesis', phase_number = 7")
		d.refused(lifecycle.Invariant, lifecycle.KindOtherPayload, complete(d, lifecycle.CompleteRequest{}))
		must(t, complete(d, lifecycle.CompleteRequest{Payload: []byte(changes)})())
		if got := d.rows("SELECT count(*) FROM orchestration_events WHERE event_type = 'round_completed'"); got != "1\n" {
			t.Errorf("%s terminal events", got)
		}
		if row := d.rows("SELECT current_phase FROM sessions"); row != "complete\n" {
			t.Errorf("phase %q", row)
		}
	})

	t.Run("TriageStays", func(t *testing.T) {
		// What another program read in keeps its ids, and people's marks on it.
		d := atSynthesis(t)
		d.sql(`INSERT INTO review_rounds (id, session_id, round_number) VALUES (70, 's', 1);
			INSERT INTO reviewer_outputs (id, round_id, reviewer_type, instance_number, file_path) VALUES (71, 70, 'principal', 1, 'x'), (72, 70, 'gone', 1, 'x');
			INSERT INTO review_findings (id, reviewer_output_id, title, severity, file_path) VALUES
				(80, 71, 'Totals are rounded twice', 'high', 'cart.go'), (81, 71, 'Not in the payload', 'low', NULL), (82, 72, 'Not in the payload', 'low', NULL);
			INSERT INTO user_finding_progress (finding_id, status) VALUES (80, 'fixed'), (81, 'read')`)
		must(t, complete(d, lifecycle.CompleteRequest{Payload: []byte(changes)})())
		if rows := d.rows("SELECT f.id, f.category, p.status FROM review_findings AS f JOIN user_finding_progress AS p ON p.finding_id = f.id"); rows != "80|blocker|fixed\n81|<nil>|read\n" {
			t.Errorf("marked findings %q", rows)
		}
		if rows := d.rows("SELECT (SELECT count(*) FROM review_findings), (SELECT group_concat(id) FROM reviewer_outputs), (SELECT source FROM review_rounds)"); rows != "3|71|orchestrator\n" {
			t.Errorf("counts %q", rows)
		}
	})

	t.Run("InvalidPayload", func(t *testing.T) {
		// The payload is looked at first: a session that is not there matters less.
		d := atSynthesis(t)
		for _, payload := range []string{"", "{", `{"schema_version":1}`, aMap} {
			var invalid *artifact.Invalid
			err := d.unchanged(func() error {
				_, err := lifecycle.CompleteRound(t.Context(), d.Caller, lifecycle.CompleteRequest{SessionID: "nope", Payload: []byte(payload)})
				return err
			})
			if !errors.As(err, &invalid) {
				t.Errorf("%q: %v", payload, err)
			}
		}
	})

	t.Run("NotAtSynthesis", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		for _, phase := range reviewPhases[:6] {
			d.walk("s", phase)
			d.refused(lifecycle.Invariant, lifecycle.KindNotAtSynthesis, complete(d, lifecycle.CompleteRequest{}))
		}
	})

	t.Run("OtherNumber", func(t *testing.T) {
		d := atSynthesis(t)
		d.refused(lifecycle.Invariant, lifecycle.KindOtherNumber, complete(d, lifecycle.CompleteRequest{Number: 2}))
		_, err := lifecycle.Advance(t.Context(), d.Caller, lifecycle.AdvanceRequest{SessionID: "s", Phase: "context", Round: 2})
		must(t, err)
		d.walk("s", "synthesis")
		d.refused(lifecycle.Invariant, lifecycle.KindOtherNumber, complete(d, lifecycle.CompleteRequest{Number: 1}))
	})

	t.Run("NoFinal", func(t *testing.T) {
		d := atSynthesis(t)
		no := d.refused(lifecycle.Invariant, lifecycle.KindNoFinal, complete(d, lifecycle.CompleteRequest{RequireFinal: true}))
		if !strings.Contains(no.Message, "final.md") {
			t.Errorf("%q", no.Message)
		}
	})

	t.Run("Closed", func(t *testing.T) {
		d := atSynthesis(t)
		_, err := d.finish("s", true)
		must(t, err)
		d.refused(lifecycle.Invariant, lifecycle.KindClosed, complete(d, lifecycle.CompleteRequest{}))
	})

	t.Run("WrongWorkflow", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "map")
		d.walk("s", "synthesis")
		d.refused(lifecycle.Invariant, lifecycle.KindWrongWorkflow, complete(d, lifecycle.CompleteRequest{}))
	})

	t.Run("FailsInTheMiddle", func(t *testing.T) {
		for _, statement := range []string{"INSERT ON orchestration_events", "UPDATE ON sessions", "INSERT ON review_rounds", "INSERT ON review_findings"} {
			d := atSynthesis(t)
			d.breakAt(statement)
			_ = d.unchanged(complete(d, lifecycle.CompleteRequest{Payload: []byte(changes)}))
		}
	})

	t.Run("CommitFails", func(t *testing.T) {
		d := atSynthesis(t)
		d.breakCommit("round_completed")
		_ = d.unchanged(complete(d, lifecycle.CompleteRequest{Payload: []byte(changes)}))
	})

	t.Run("FormerFileIsPutBack", func(t *testing.T) {
		d := atSynthesis(t)
		must(t, os.MkdirAll(filepath.Dir(metaPath(d)), 0o755))
		must(t, os.WriteFile(metaPath(d), []byte("a draft"), 0o644))
		d.breakCommit("round_completed")
		_ = d.unchanged(complete(d, lifecycle.CompleteRequest{}))
	})

	t.Run("NoFolder", func(t *testing.T) {
		// A file stands where the rounds should lie: nothing can be written.
		d := atSynthesis(t)
		must(t, os.WriteFile(filepath.Join(d.Project.Sessions(), "s", "rounds"), []byte("mine"), 0o600))
		_ = d.unchanged(complete(d, lifecycle.CompleteRequest{}))
	})
}

func TestCompleteMap(t *testing.T) {
	t.Parallel()
	complete := func(d *desk, in lifecycle.CompleteRequest) func() error {
		in.SessionID = "m"
		if in.Payload == nil {
			in.Payload = []byte(aMap)
		}
		return func() error { _, err := lifecycle.CompleteMap(t.Context(), d.Caller, in); return err }
	}
	atSynthesis := func(t *testing.T) *desk {
		d := newDesk(t)
		d.begin("m", "map")
		d.walk("m", "synthesis")
		return d
	}
	metaPath := func(d *desk) string {
		return filepath.Join(d.Project.Sessions(), "m", "map", "runs", "run-1", "map-meta.json")
	}

	t.Run("OK", func(t *testing.T) {
		d := atSynthesis(t)
		got, err := d.completeMap("m", aMap)
		must(t, err)
		if want := (lifecycle.CompleteResult{SessionID: "m", Number: 1, MetaPath: metaPath(d), Warnings: noWarnings, Changed: true, Kept: []lifecycle.KeptRow{}, Outlook: got.Outlook}); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		events := d.rows("SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events ORDER BY id DESC LIMIT 2")
		if want := "phase_transition|complete|6|1|<nil>\n" + `map_completed|synthesis|5|1|{"section_count":1,"file_count":1,"source":"orchestrator"}` + "\n"; events != want {
			t.Errorf("events %s, want %s", events, want)
		}
		if row := d.rows("SELECT status, current_phase, phase_number, current_round, current_map_run FROM sessions"); row != "active|complete|6|1|1\n" {
			t.Errorf("row %q", row)
		}
		files := d.rows(`SELECT r.run_number, r.file_count, r.section_count, r.source, s.section_number, s.title, s.file_count, f.file_path, f.role, f.lines_added, f.lines_deleted
			FROM map_files AS f JOIN map_sections AS s ON s.id = f.section_id JOIN map_runs AS r ON r.id = s.map_run_id`)
		if files != "1|1|1|orchestrator|1|Cart|1|cart.go|core|3|1\n" {
			t.Errorf("files %q", files)
		}
		if _, err := os.Stat(metaPath(d)); err != nil {
			t.Error(err)
		}
	})

	t.Run("SecondRun", func(t *testing.T) {
		d := newDesk(t)
		d.completed("m", "map")
		d.begin("m", "map")
		d.walk("m", "synthesis")
		got, err := d.completeMap("m", aMap)
		must(t, err)
		if got.Number != 2 {
			t.Errorf("%+v", got)
		}
		if rows := d.rows("SELECT round FROM orchestration_events WHERE event_type = 'map_completed' ORDER BY id"); rows != "1\n2\n" {
			t.Errorf("runs %q", rows)
		}
	})

	t.Run("Again", func(t *testing.T) {
		d := newDesk(t)
		d.completed("m", "map")
		before := d.all()
		must(t, complete(d, lifecycle.CompleteRequest{})())
		if d.all() != before {
			t.Error("completing again changed something")
		}
		must(t, os.Remove(metaPath(d)))
		d.refused(lifecycle.Invariant, lifecycle.KindOtherPayload, complete(d, lifecycle.CompleteRequest{Payload: []byte(`{"schema_version":1,"sections":[]}`)}))
		must(t, complete(d, lifecycle.CompleteRequest{})())
		if _, err := os.Stat(metaPath(d)); err != nil {
			t.Error(err)
		}
	})

	t.Run("TicksStay", func(t *testing.T) {
		d := atSynthesis(t)
		d.sql(`INSERT INTO map_runs (id, session_id, run_number) VALUES (70, 'm', 1);
			INSERT INTO map_sections (id, map_run_id, section_number, title) VALUES (71, 70, 1, 'Old'), (72, 70, 2, 'Gone');
			INSERT INTO map_files (id, section_id, file_path) VALUES (80, 71, 'cart.go'), (81, 71, 'gone.go'), (82, 72, 'gone.go');
			INSERT INTO user_file_progress (map_file_id, is_reviewed) VALUES (80, 1)`)
		must(t, complete(d, lifecycle.CompleteRequest{})())
		if rows := d.rows("SELECT f.id, s.id, s.title, p.is_reviewed FROM map_files AS f JOIN map_sections AS s ON s.id = f.section_id LEFT JOIN user_file_progress AS p ON p.map_file_id = f.id"); rows != "80|71|Cart|1\n" {
			t.Errorf("files %q", rows)
		}
	})

	t.Run("InvalidPayload", func(t *testing.T) {
		d := atSynthesis(t)
		var invalid *artifact.Invalid
		if err := d.unchanged(complete(d, lifecycle.CompleteRequest{Payload: []byte(approve)})); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "complete-round") {
			t.Errorf("%v", err)
		}
	})

	t.Run("NotAtSynthesis", func(t *testing.T) {
		d := newDesk(t)
		d.begin("m", "map")
		d.refused(lifecycle.Invariant, lifecycle.KindNotAtSynthesis, complete(d, lifecycle.CompleteRequest{}))
	})

	t.Run("OtherNumber", func(t *testing.T) {
		d := atSynthesis(t)
		d.refused(lifecycle.Invariant, lifecycle.KindOtherNumber, complete(d, lifecycle.CompleteRequest{Number: 2}))
	})

	t.Run("NoFinal", func(t *testing.T) {
		d := atSynthesis(t)
		d.refused(lifecycle.Invariant, lifecycle.KindNoFinal, complete(d, lifecycle.CompleteRequest{RequireFinal: true}))
	})

	t.Run("WrongWorkflow", func(t *testing.T) {
		d := newDesk(t)
		d.begin("m", "review")
		d.walk("m", "synthesis")
		d.refused(lifecycle.Invariant, lifecycle.KindWrongWorkflow, complete(d, lifecycle.CompleteRequest{}))
	})

	t.Run("FailsInTheMiddle", func(t *testing.T) {
		d := atSynthesis(t)
		d.breakAt("INSERT ON map_files")
		_ = d.unchanged(complete(d, lifecycle.CompleteRequest{}))
	})

	t.Run("CommitFails", func(t *testing.T) {
		d := atSynthesis(t)
		d.breakCommit("map_completed")
		_ = d.unchanged(complete(d, lifecycle.CompleteRequest{}))
	})
}
