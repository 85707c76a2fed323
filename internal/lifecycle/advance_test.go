package lifecycle_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ocr/internal/lifecycle"
)

func TestAdvance(t *testing.T) {
	t.Parallel()
	move := func(d *desk, in lifecycle.AdvanceRequest) func() error {
		in.SessionID = "s"
		return func() error { _, err := lifecycle.Advance(t.Context(), d.Caller, in); return err }
	}
	at := func(t *testing.T, workflow, phase string) *desk {
		d := newDesk(t)
		d.begin("s", workflow)
		d.walk("s", phase)
		return d
	}

	t.Run("OK", func(t *testing.T) {
		for workflow, phases := range map[string][]string{"review": reviewPhases, "map": mapPhases} {
			d := newDesk(t)
			d.begin("s", workflow)
			for i, phase := range phases[1 : len(phases)-1] {
				got, err := d.advance("s", phase)
				must(t, err)
				want := lifecycle.AdvanceResult{SessionID: "s", Workflow: workflow, Phase: phase, PhaseNumber: int64(i + 2), Round: 1, MapRun: 1}
				want.Outlook = got.Outlook
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%+v, want %+v", got, want)
				}
			}
			row := d.rows("SELECT current_phase, phase_number FROM sessions")
			event := d.rows("SELECT phase, phase_number FROM orchestration_events WHERE event_type = 'phase_transition' AND round = 1 AND metadata IS NULL ORDER BY id DESC LIMIT 1")
			if row != event || !strings.HasPrefix(row, "synthesis|") {
				t.Errorf("row %q, event %q", row, event)
			}
		}
	})

	t.Run("SamePhase", func(t *testing.T) {
		d := at(t, "review", "analysis")
		before := len(d.log("s"))
		must(t, move(d, lifecycle.AdvanceRequest{Phase: "analysis"})())
		must(t, move(d, lifecycle.AdvanceRequest{Phase: "analysis", Round: 1})())
		if log := d.log("s"); len(log) != before+2 {
			t.Errorf("log %v", log)
		}
	})

	t.Run("NextRound", func(t *testing.T) {
		for _, phase := range []string{"context", "reviews", "synthesis"} {
			d := at(t, "review", phase)
			must(t, move(d, lifecycle.AdvanceRequest{Phase: "context", Round: 2})())
			log := d.log("s")
			if !slices.Equal(log[len(log)-2:], []string{"phase_transition", "round_started"}) {
				t.Errorf("log %v", log)
			}
			if row := d.rows("SELECT current_phase, phase_number, current_round FROM sessions"); row != "context|1|2\n" {
				t.Errorf("row %q", row)
			}
		}
	})

	t.Run("NextRun", func(t *testing.T) {
		d := at(t, "map", "topology")
		must(t, move(d, lifecycle.AdvanceRequest{Phase: "map-context", MapRun: 2})())
		if event := d.rows("SELECT event_type, phase, phase_number, round, metadata FROM orchestration_events ORDER BY id DESC LIMIT 1"); event != "round_started|map-context|1|1|{\"map_run\":2}\n" {
			t.Errorf("event %q", event)
		}
		if row := d.rows("SELECT current_phase, current_round, current_map_run FROM sessions"); row != "map-context|1|2\n" {
			t.Errorf("row %q", row)
		}
	})

	t.Run("AfterComplete", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		no := d.refused(lifecycle.Transition, lifecycle.KindIllegalMove, move(d, lifecycle.AdvanceRequest{Phase: "context"}))
		if !strings.Contains(no.Message, "--current-round") || !strings.Contains(no.Hint, "--current-round=2") {
			t.Errorf("the flag is not named: %q, %q", no.Message, no.Hint)
		}
		must(t, move(d, lifecycle.AdvanceRequest{Phase: "context", Round: 2})())
	})

	t.Run("IllegalJump", func(t *testing.T) {
		for workflow, phases := range map[string][]string{"review": reviewPhases, "map": mapPhases} {
			d := newDesk(t)
			d.begin("s", workflow)
			for from, phase := range phases[:len(phases)-1] {
				d.walk("s", phase)
				for to, next := range phases {
					if to == from || to == from+1 {
						continue
					}
					d.refused(lifecycle.Transition, lifecycle.KindIllegalMove, move(d, lifecycle.AdvanceRequest{Phase: next}))
				}
			}
		}
	})

	t.Run("UnknownPhase", func(t *testing.T) {
		d := at(t, "review", "context")
		for _, phase := range []string{"nope", "topology", "Context", "context ", "context\n"} {
			d.refused(lifecycle.Transition, lifecycle.KindUnknownPhase, move(d, lifecycle.AdvanceRequest{Phase: phase}))
		}
	})

	t.Run("IllegalNumber", func(t *testing.T) {
		d := at(t, "review", "synthesis")
		must(t, move(d, lifecycle.AdvanceRequest{Phase: "context", Round: 2})())
		for _, round := range []int64{1, 4, 1 << 62} {
			d.refused(lifecycle.Transition, lifecycle.KindIllegalNumber, move(d, lifecycle.AdvanceRequest{Phase: "context", Round: round}))
		}
		d.refused(lifecycle.Transition, lifecycle.KindIllegalMove, move(d, lifecycle.AdvanceRequest{Phase: "change-context", Round: 3}))
	})

	t.Run("WrongNumberFlag", func(t *testing.T) {
		d := at(t, "review", "context")
		d.refused(lifecycle.Usage, lifecycle.KindWrongNumberFlag, move(d, lifecycle.AdvanceRequest{Phase: "context", MapRun: 1}))
		d = at(t, "map", "map-context")
		d.refused(lifecycle.Usage, lifecycle.KindWrongNumberFlag, move(d, lifecycle.AdvanceRequest{Phase: "map-context", Round: 1}))
	})

	t.Run("Complete", func(t *testing.T) {
		for workflow, verb := range map[string]string{"review": "complete-round", "map": "complete-map"} {
			d := at(t, workflow, "synthesis")
			no := d.refused(lifecycle.Invariant, lifecycle.KindCompleteByVerb, move(d, lifecycle.AdvanceRequest{Phase: "complete"}))
			if !strings.Contains(no.Hint, verb) {
				t.Errorf("the hint %q does not name %s", no.Hint, verb)
			}
		}
	})

	t.Run("Closed", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		_, err := d.finish("s", false)
		must(t, err)
		for _, in := range []lifecycle.AdvanceRequest{{Phase: "context"}, {Phase: "context", Round: 2}, {Phase: "complete"}} {
			d.refused(lifecycle.Invariant, lifecycle.KindClosed, move(d, in))
		}
	})

	t.Run("RowBelowLog", func(t *testing.T) {
		// Another program counts what is on disk, also downwards; the log decides.
		d := at(t, "review", "analysis")
		must(t, move(d, lifecycle.AdvanceRequest{Phase: "context", Round: 2})())
		d.sql("UPDATE sessions SET current_round = 1")
		d.refused(lifecycle.Transition, lifecycle.KindIllegalNumber, move(d, lifecycle.AdvanceRequest{Phase: "context", Round: 1}))
		must(t, move(d, lifecycle.AdvanceRequest{Phase: "change-context"})())
		if row := d.rows("SELECT current_round FROM sessions"); row != "2\n" {
			t.Errorf("round %q", row)
		}
	})

	t.Run("FailsInTheMiddle", func(t *testing.T) {
		d := at(t, "review", "analysis")
		d.breakAt("UPDATE ON sessions")
		_ = d.unchanged(move(d, lifecycle.AdvanceRequest{Phase: "context", Round: 2}))
	})

	t.Run("CommitFails", func(t *testing.T) {
		d := at(t, "review", "analysis")
		d.breakCommit("phase_transition")
		_ = d.unchanged(move(d, lifecycle.AdvanceRequest{Phase: "reviews"}))
	})
}
