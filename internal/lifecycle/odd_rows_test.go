package lifecycle_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// TestOddRows: a row that another program left with values of the wrong type
// stops no verb on other sessions, and can be shown and closed itself.
func TestOddRows(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"Text": "'first'", "Blob": "x'00ff'", "Infinity": "9e999", "Fraction": "1.5"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", "review")
			d.begin("odd", "review")
			d.sql("UPDATE sessions SET phase_number = " + value + " WHERE id = 'odd'")
			d.sql("DROP TRIGGER trg_sessions_numbers_when_changed; UPDATE sessions SET current_map_run = " + value + " WHERE id = 'odd'")
			d.sql("INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('odd', 'phase_transition', 'context', " + value + ", " + value + ")")
			d.sql("INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES (NULL, 'b', 'review', 'd')")
			list, err := lifecycle.List(t.Context(), d.Caller, "all")
			must(t, err)
			if len(list) != 2 || list[0].ID != "odd" || list[0].PhaseNumber != 0 || list[1].PhaseNumber != 1 {
				t.Errorf("%+v", list)
			}
			view, err := lifecycle.Show(t.Context(), d.Caller, "odd")
			must(t, err)
			if last := view.Events[len(view.Events)-1]; last.PhaseNumber != nil || last.Round != nil || last.EventType != "phase_transition" {
				t.Errorf("%+v", last)
			}
			events, err := lifecycle.Events(t.Context(), d.Caller, "odd", 0)
			must(t, err)
			if len(events) != 2 || events[1].PhaseNumber != nil || *events[0].PhaseNumber != 1 {
				t.Errorf("%+v", events)
			}
			_, err = d.advance("s", "change-context")
			must(t, err)
			_, err = d.finish("odd", true)
			must(t, err)
			if _, err = lifecycle.Sweep(t.Context(), d.Caller, lifecycle.SweepRequest{}); err != nil {
				t.Error(err)
			}
			if _, err = lifecycle.Reconcile(t.Context(), d.Caller, true); err != nil {
				t.Error(err)
			}
			d.sync()
		})
	}
}

// TestUnknownWorkflow: every verb refuses a session that is neither a review
// nor a map, and none falls over it.
func TestUnknownWorkflow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("PRAGMA ignore_check_constraints = ON; INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', 'audit', 'd')")
	verbs := map[string]func() error{
		"begin": func() error {
			_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review"})
			return err
		},
		"beginAsIs": func() error {
			_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "audit"})
			return err
		},
		"advance":  func() error { _, err := d.advance("s", "context"); return err },
		"complete": func() error { _, err := d.completeRound("s", approve); return err },
		"finish":   func() error { _, err := d.finish("s", true); return err },
		"status":   func() error { _, err := lifecycle.GetStatus(t.Context(), d.Caller, "s"); return err },
		"show":     func() error { _, err := lifecycle.Show(t.Context(), d.Caller, ""); return err },
		"resume": func() error {
			_, err := lifecycle.Resume(t.Context(), d.Caller, lifecycle.ResumeRequest{SessionID: "s"})
			return err
		},
	}
	for name, verb := range verbs {
		if no := d.refused(lifecycle.Invariant, lifecycle.KindUnknownWorkflow, verb); !strings.HasPrefix(no.Hint, "ocr doctor") {
			t.Errorf("%s: hint %q", name, no.Hint)
		}
	}
	if list, err := lifecycle.List(t.Context(), d.Caller, "all"); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}

// TestHighestNumber: nothing is counted past the highest number there is.
func TestHighestNumber(t *testing.T) {
	t.Parallel()
	const highest = math.MaxInt64
	for _, workflow := range []string{"review", "map"} {
		t.Run(workflow, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", workflow)
			d.sql("UPDATE sessions SET current_round = 9223372036854775807, current_map_run = 9223372036854775807")
			first := map[string]string{"review": "context", "map": "map-context"}[workflow]
			for _, number := range []int64{1, math.MinInt64, highest - 1} {
				in := lifecycle.AdvanceRequest{SessionID: "s", Phase: first, Round: number}
				if workflow == "map" {
					in.Round, in.MapRun = 0, number
				}
				no := d.refused(lifecycle.Transition, lifecycle.KindIllegalNumber, func() error { _, err := lifecycle.Advance(t.Context(), d.Caller, in); return err })
				if strings.Contains(no.Message, "-92") {
					t.Error(no.Message)
				}
			}
			status, err := lifecycle.GetStatus(t.Context(), d.Caller, "s")
			must(t, err)
			if strings.Contains(status.Next.Text, "-92") {
				t.Error(status.Next.Text)
			}
			d.walk("s", "synthesis")
			if workflow == "map" {
				_, err = d.completeMap("s", aMap)
			} else {
				_, err = d.completeRound("s", approve)
			}
			must(t, err)
			d.refused(lifecycle.Transition, lifecycle.KindIllegalNumber, func() error { _, err := d.advance("s", first); return err })
			d.refused(lifecycle.Transition, lifecycle.KindIllegalNumber, func() error {
				_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: workflow})
				return err
			})
		})
	}
}

// TestLogWithoutRow: the id of a session whose row was lost is refused in
// words, and its log stays.
func TestLogWithoutRow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.begin("s", "review")
	d.sql("DROP TRIGGER trg_sessions_with_events_stay; DELETE FROM sessions")
	no := d.refused(lifecycle.Invariant, lifecycle.KindLogWithoutRow, func() error {
		_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review"})
		return err
	})
	if !strings.Contains(no.Message, "the log is kept") || !strings.HasPrefix(no.Hint, "ocr doctor") {
		t.Errorf("%q, hint %q", no.Message, no.Hint)
	}
	if got := d.log("s"); !slices.Equal(got, []string{"session_created"}) {
		t.Errorf("log %v", got)
	}
}

// TestViewGone: a missing part of the schema has its own kind, and a way out.
func TestViewGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.begin("s", "review")
	d.sql("DROP VIEW session_completeness")
	for name, call := range map[string]func() error{
		"list":    func() error { _, err := lifecycle.List(t.Context(), d.Caller, "all"); return err },
		"advance": func() error { _, err := d.advance("s", "change-context"); return err },
	} {
		var store *db.Error
		if err := d.unchanged(call); !errors.As(err, &store) || store.Kind != db.KindSchema || !strings.Contains(store.Hint, "ocr doctor --fix") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
