package lifecycle_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ocr/internal/lifecycle"
)

// told is what a session must look like, by a model that knows the rules but
// nothing of how they are kept.
type told struct {
	id, workflow string
	closed       bool
	phase        string
	phaseNumber  int
	number       int // current round, or run of a map
	completed    map[int]bool
	log          []string
}

func (s *told) phases() []string {
	if s.workflow == "map" {
		return mapPhases
	}
	return reviewPhases
}

func (s *told) enter(phase string) {
	s.phase, s.phaseNumber = phase, slices.Index(s.phases(), phase)+1
}

// begin tells what begin must answer, and does it. 0 is success.
func (s *told) begin(workflow string) lifecycle.Class {
	switch {
	case s.log == nil:
		*s = told{id: s.id, workflow: workflow, number: 1, completed: map[int]bool{}, log: []string{"session_created"}}
		s.enter(s.phases()[0])
		return 0
	case workflow != s.workflow:
		return lifecycle.Usage
	case !s.closed && !s.completed[s.number]:
		return lifecycle.Invariant
	case s.completed[s.number]:
		s.number++
		s.log = append(s.log, "round_started")
	default:
		s.log = append(s.log, "session_resumed")
	}
	s.closed = false
	s.enter(s.phases()[0])
	return 0
}

// advance does the same for advance; number 0 is none given.
func (s *told) advance(phase string, number int) lifecycle.Class {
	to, from := slices.Index(s.phases(), phase), slices.Index(s.phases(), s.phase)
	opens := number != 0 && number != s.number
	switch {
	case s.closed:
		return lifecycle.Invariant
	case to < 0:
		return lifecycle.Transition
	case opens && (number != s.number+1 || to != 0):
		return lifecycle.Transition
	case opens:
		s.number = number
		s.log = append(s.log, "phase_transition", "round_started")
	case to == from+1 && phase == "complete":
		return lifecycle.Invariant
	case to == from, to == from+1:
		s.log = append(s.log, "phase_transition")
	default:
		return lifecycle.Transition
	}
	s.enter(phase)
	return 0
}

// complete does the same for the completion of a round or run.
func (s *told) complete(workflow string, number int) lifecycle.Class {
	if number == 0 {
		number = s.number
	}
	switch {
	case workflow != s.workflow:
		return lifecycle.Invariant
	case s.completed[number]:
		return 0
	case number != s.number, s.closed, s.phase != "synthesis":
		return lifecycle.Invariant
	}
	s.completed[number] = true
	terminal := "round_completed"
	if workflow == "map" {
		terminal = "map_completed"
	}
	s.log = append(s.log, terminal, "phase_transition")
	s.enter("complete")
	return 0
}

// finish does the same for finish. The phase number stays as it was.
func (s *told) finish(abort bool) lifecycle.Class {
	switch {
	case s.closed:
		return 0
	case abort:
		s.log = append(s.log, "session_aborted")
	case !s.completed[s.number]:
		return lifecycle.Invariant
	default:
		s.log = append(s.log, "session_closed")
	}
	s.closed, s.phase = true, "complete"
	return 0
}

// row is the session as the table and the projection of the log must have it:
// status, phase, phase number, round, run.
func (s *told) row() string {
	status, round, run := "active", s.number, 1
	if s.closed {
		status = "closed"
	}
	if s.workflow == "map" {
		round, run = 1, s.number
	}
	return fmt.Sprintf("%s|%s|%d|%d|%d", status, s.phase, s.phaseNumber, round, run)
}

func (s *told) completeness() string {
	switch {
	case s.closed && s.completed[s.number]:
		return "complete"
	case s.closed:
		return "closed_without_artifact"
	}
	return "open_no_artifact"
}

// TestModel makes random calls on a few sessions of one project, and compares
// answer, row, log and views of all of them with the model after each call.
func TestModel(t *testing.T) {
	// The seed is printed; no file is left in the source tree.
	must(t, flag.Set("rapid.nofailfile", "true"))
	// 100 sequences, the preset of rapid, take too long for every day.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		must(t, checks.Value.Set("12"))
	}
	d := newDesk(t)
	d.Notice = func(string) {}
	pool := d.open()
	defer pool.Close()
	query, err := pool.Prepare(modelQuery)
	must(t, err)
	defer query.Close()
	sequence := 0
	rapid.Check(t, func(t *rapid.T) {
		sequence++
		var model []*told
		for _, name := range []string{"a", "b", "c"} {
			model = append(model, &told{id: fmt.Sprintf("%d-%s", sequence, name)})
		}
		draw := func(t *rapid.T) *told { return rapid.SampledFrom(model).Draw(t, "session") }
		workflow := rapid.SampledFrom([]string{"review", "map"})
		check := func(t *rapid.T, want lifecycle.Class, err error) {
			t.Helper()
			var no *lifecycle.Error
			got := lifecycle.Class(0)
			if errors.As(err, &no) {
				got = no.Class
			} else if err != nil {
				t.Fatalf("%v", err)
			}
			if got != want {
				t.Fatalf("answer %d (%v), want %d", got, err, want)
			}
		}
		begin := func(t *rapid.T, s *told, workflow string) {
			want := s.begin(workflow)
			_, err := lifecycle.Begin(context.Background(), d.Caller, lifecycle.BeginRequest{SessionID: s.id, Branch: "b", Workflow: workflow})
			check(t, want, err)
		}
		begun := func(t *rapid.T) *told {
			s := draw(t)
			if s.log == nil {
				begin(t, s, workflow.Draw(t, "workflow"))
			}
			return s
		}
		// Earlier names are drawn more often. Most steps must lead on: the way
		// to the end is long.
		actions := map[string]func(*rapid.T){
			"a next": func(t *rapid.T) {
				s := begun(t)
				at := slices.Index(s.phases(), s.phase)
				phase := s.phases()[min(at+1, len(s.phases())-1)]
				want := s.advance(phase, 0)
				check(t, want, advanceTo(d, s, phase, 0))
			},
			"b complete": func(t *rapid.T) {
				s := begun(t)
				check(t, s.complete(s.workflow, 0), completeWith(d, s.id, s.workflow, 0))
			},
			"d begin again": func(t *rapid.T) {
				s := begun(t)
				begin(t, s, s.workflow)
			},
			"e to synthesis": func(t *rapid.T) {
				s := begun(t)
				for at := slices.Index(s.phases(), s.phase) + 1; at < len(s.phases())-1; at++ {
					phase := s.phases()[at]
					want := s.advance(phase, 0)
					check(t, want, advanceTo(d, s, phase, 0))
				}
			},
			"c finish": func(t *rapid.T) {
				s := begun(t)
				abort := rapid.IntRange(0, 3).Draw(t, "abort") == 3
				want := s.finish(abort)
				_, err := d.finish(s.id, abort)
				check(t, want, err)
			},
			"f open next": func(t *rapid.T) {
				s := begun(t)
				number := s.number + 1
				want := s.advance(s.phases()[0], number)
				check(t, want, advanceTo(d, s, s.phases()[0], number))
			},
			"g advance": func(t *rapid.T) {
				s := begun(t)
				phase := rapid.SampledFrom(append(s.phases()[:len(s.phases()):len(s.phases())], "nope")).Draw(t, "phase")
				number := 0
				if rapid.Bool().Draw(t, "numbered") {
					number = max(1, s.number+rapid.IntRange(-1, 2).Draw(t, "step"))
				}
				want := s.advance(phase, number)
				check(t, want, advanceTo(d, s, phase, number))
			},
			"h complete any": func(t *rapid.T) {
				s, w := begun(t), workflow.Draw(t, "workflow")
				number := max(0, s.number+rapid.IntRange(-2, 1).Draw(t, "step"))
				check(t, s.complete(w, number), completeWith(d, s.id, w, number))
			},
			"i begin any": func(t *rapid.T) { begin(t, draw(t), workflow.Draw(t, "workflow")) },
			"": func(t *rapid.T) {
				compare(t, query, model)
			},
		}
		t.Repeat(actions)
	})
}

func advanceTo(d *desk, s *told, phase string, number int) error {
	in := lifecycle.AdvanceRequest{SessionID: s.id, Phase: phase, Round: int64(number)}
	if s.workflow == "map" {
		in.Round, in.MapRun = 0, int64(number)
	}
	_, err := lifecycle.Advance(context.Background(), d.Caller, in)
	return err
}

func completeWith(d *desk, id, workflow string, number int) error {
	in := lifecycle.CompleteRequest{SessionID: id, Payload: []byte(changes), Number: int64(number)}
	complete := lifecycle.CompleteRound
	if workflow == "map" {
		complete, in.Payload = lifecycle.CompleteMap, []byte(aMap)
	}
	_, err := complete(context.Background(), d.Caller, in)
	return err
}

// modelQuery reads all that the model tells of three sessions.
const modelQuery = `
SELECT
    s.id,
    s.status, s.current_phase, s.phase_number, s.current_round, s.current_map_run,
    p.status, p.phase, p.phase_number, p.round, p.map_run,
    c.completeness_state,
    (SELECT count(*) FROM session_drift AS d WHERE d.session_id = s.id),
    (SELECT group_concat(e.event_type, ' ' ORDER BY e.id) FROM orchestration_events AS e WHERE e.session_id = s.id)
FROM sessions AS s
INNER JOIN session_projection AS p ON p.session_id = s.id
INNER JOIN session_completeness AS c ON c.session_id = s.id
WHERE s.id IN (?, ?, ?)
ORDER BY s.id`

// compare holds the sessions of the database to the model: row, projection of
// the log, completeness, no drift, and the log itself.
func compare(t *rapid.T, query *sql.Stmt, model []*told) {
	t.Helper()
	found, err := query.Query(model[0].id, model[1].id, model[2].id)
	must(t, err)
	want := ""
	for _, s := range model {
		if s.log != nil {
			want += s.id + "|" + s.row() + "|" + s.row() + "|" + s.completeness() + "|0|" + strings.Join(s.log, " ") + "\n"
		}
	}
	if got := textOf(t, found); got != want {
		t.Fatalf("sessions\n%swant\n%s", got, want)
	}
}
