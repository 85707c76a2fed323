package db

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// logged is one event of a generated log.
type logged struct {
	kind, phase, metadata string // phase "" is NULL
	number, round         int    // 0 is NULL
}

func (e logged) fact(name string) int {
	var facts map[string]any
	if json.Unmarshal([]byte(e.metadata), &facts) != nil {
		return 0
	}
	n, _ := facts[name].(float64)
	return int(n)
}

func (e logged) lease() bool {
	var facts struct{ Kind string }
	return e.kind == "session_resumed" && json.Unmarshal([]byte(e.metadata), &facts) == nil && facts.Kind == "forward_resume"
}

// folded is the state that a log implies; 0 and "" are NULL.
type folded struct {
	status, phase      string
	number, round, run int
	roundAt, runAt     int // place of the event that opened them, from 1
}

// fold reads a log event by event, as session_projection must.
func fold(workflow string, log []logged) (f folded) {
	opened, lastDone, current := map[int]int{}, 0, 1
	open := func(number, place int) {
		if current = max(current, number); number > 0 && opened[number] == 0 {
			opened[number] = place
		}
	}
	done := map[int]bool{}
	for i, e := range log {
		switch e.kind {
		case "session_created", "session_resumed", "round_started":
			if e.lease() {
				continue
			}
			f.status, f.phase, f.number, f.round = "active", e.phase, e.number, e.round
			if workflow == "review" {
				open(e.round, i+1)
			} else if run := e.fact("map_run"); e.kind == "round_started" && run > 0 {
				f.run, lastDone = run, 0
				open(run, i+1)
			}
			if workflow == "map" && e.kind == "session_created" {
				open(1, i+1)
			}
		case "phase_transition":
			f.phase, f.number, f.round = e.phase, e.number, e.round
			if workflow == "map" && e.phase == "map-context" {
				if lastDone > 0 {
					f.run = lastDone + 1
				}
				for run := range done {
					open(run+1, i+1)
				}
			}
		case "round_completed":
			f.round = max(f.round, e.round)
		case "map_completed":
			if workflow == "map" && e.round > 0 {
				f.run, lastDone, done[e.round] = e.round, e.round, true
			}
		case "session_synced":
			f.status, f.phase, f.round = "closed", e.phase, e.fact("round")
			f.number = nonZero(e.number, f.number)
			if run := e.fact("map_run"); run > 0 {
				f.run, lastDone = run, 0
			}
		default:
			f.status, f.phase, f.number = "closed", "complete", nonZero(e.number, f.number)
		}
	}
	isOpened := slices.ContainsFunc(log, func(e logged) bool {
		return e.kind == "session_created" || e.kind == "round_started" || e.kind == "session_resumed" && !e.lease()
	})
	if workflow == "map" {
		f.round, f.runAt = 0, opened[current]
		if isOpened {
			f.round, f.run = 1, nonZero(f.run, 1)
		}
	} else {
		f.run, f.roundAt = 0, opened[current]
		if isOpened {
			f.run = 1
		}
	}
	return f
}

func nonZero(first, second int) int {
	if first != 0 {
		return first
	}
	return second
}

var anyEvent = rapid.Custom(func(rt *rapid.T) logged {
	return logged{
		kind: pick(rt, rapid.SampledFrom([]string{
			"session_created", "session_resumed", "session_resumed", "round_started", "round_started",
			"phase_transition", "phase_transition", "phase_transition", "round_completed", "map_completed", "map_completed",
			"session_closed", "session_aborted", "session_auto_closed_stale", "session_synced", "session_legacy_import",
		})),
		phase:  pick(rt, rapid.SampledFrom([]string{"context", "map-context", "map-context", "reviews", "synthesis", "complete", ""})),
		number: rapid.IntRange(0, 8).Draw(rt, "number"),
		round:  rapid.IntRange(0, 4).Draw(rt, "round"),
		metadata: pick(rt, rapid.SampledFrom([]string{
			"", "", "{", "[]", `{"map_run":2}`, `{"map_run":3}`, `{"map_run":"4"}`, `{"round":2}`, `{"round":3,"map_run":1}`,
			`{"kind":"forward_resume","round":1}`, `{"kind":"forward_resume","map_run":4}`, `{"kind":"other"}`,
		})),
	}
})

// TestProjectionModel compares session_projection with the fold in Go on
// logs of any shape.
func TestProjectionModel(t *testing.T) {
	p := newPrompt(t)
	for _, name := range p.rows(t, "SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
		p.do(t, "DROP TRIGGER "+name) // old logs hold anything
	}
	for _, workflow := range []string{"review", "map"} {
		t.Run(workflow, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				p.do(rt, "BEGIN")
				defer p.do(rt, "ROLLBACK")
				p.do(rt, "INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', '"+workflow+"', 'd'), ('t', 'b', '"+workflow+"', 'd')")
				log := rapid.SliceOfN(anyEvent, 0, 14).Draw(rt, "log")
				for i, e := range log {
					p.do(rt, fmt.Sprintf(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata, created_at)
						VALUES ('s', '%s', NULLIF('%s', ''), NULLIF(%d, 0), NULLIF(%d, 0), NULLIF('%s', ''), '%d')`, e.kind, e.phase, e.number, e.round, e.metadata, i+1))
					other := log[len(log)-1-i] // another session's log in between
					p.do(rt, fmt.Sprintf("INSERT INTO orchestration_events (session_id, event_type, phase, round) VALUES ('t', '%s', '%s', %d)", other.kind, other.phase, other.round))
				}
				f := fold(workflow, log)
				want := fmt.Sprintf("%s|%s|%d|%d|%d|%d|%d", f.status, f.phase, f.number, f.round, f.run, f.roundAt, f.runAt)
				got := p.rows(rt, `SELECT IFNULL(status, ''), IFNULL(phase, ''), IFNULL(phase_number, 0), IFNULL(round, 0), IFNULL(map_run, 0),
					IFNULL(round_started_at, 0), IFNULL(map_started_at, 0) FROM session_projection WHERE session_id = 's'`)
				if got[0] != want {
					rt.Fatalf("view %s\nfold %s", got[0], want)
				}
			})
		})
	}
}
