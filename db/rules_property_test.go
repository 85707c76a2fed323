package db

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hostile draws values that a column does not expect, besides those it does.
func hostile(expected ...string) *rapid.Generator[string] {
	odd := []string{"NULL", "''", "'x'", "0", "-1", "1.5", "x'31'", "'2'", "3.0", "9223372036854775807"}
	return rapid.Map(rapid.IntRange(0, 4*len(odd)-1), func(n int) string {
		if n < len(odd) {
			return odd[n]
		}
		return expected[n%len(expected)]
	})
}

var (
	anyID       = hostile("'open'", "'map'", "'done'", "'aborted'", "'new'")
	anyStatus   = hostile("'closed'", "'closed'", "'active'", "'CLOSED'", "x'636c6f736564'")
	anyWorkflow = hostile("'review'", "'map'")
	anyPhase    = hostile("'synthesis'", "'complete'", "'context'", "'map-context'", "'reviews'")
	anyNumber   = hostile("1", "2", "3", "1", "(SELECT MAX(round) FROM orchestration_events)", "current_round")
	anyRow      = hostile("1", "2", "3", "4", "7", "(SELECT MAX(id) FROM orchestration_events)")
	anyMetadata = hostile("NULL", `'{"map_run":2}'`, `'{"map_run":"3"}'`, `'{"kind":"forward_resume","round":1}'`, `'{"round":'`, `'[]'`, `jsonb('{"kind":"forward_resume"}')`)
	anyTime     = hostile("datetime('now')", "'2026-01-02T03:04:05.678Z'", "'yesterday'")
	quietEvents = []string{
		"'session_created'", "'session_resumed'", "'round_started'", "'phase_transition'", "'session_closed'",
		"'session_aborted'", "'session_auto_closed_stale'", "'session_synced'", "'session_legacy_import'",
		"'ROUND_COMPLETED'", "x'726f756e645f636f6d706c65746564'",
	}
	anyConflict = rapid.SampledFrom([]string{"", "", "", " OR REPLACE", " OR IGNORE", " OR FAIL", " OR ABORT"})
)

func pick[V any](rt *rapid.T, g *rapid.Generator[V]) V { return g.Draw(rt, "part") }

// assignments draws some of the columns with values.
func assignments(rt *rapid.T, columns map[string]*rapid.Generator[string], most int) (names, values []string) {
	order := rapid.Permutation(slices.Sorted(func(yield func(string) bool) {
		for name := range columns {
			if !yield(name) {
				return
			}
		}
	})).Draw(rt, "columns")
	for _, name := range order[:rapid.IntRange(1, min(most, len(order))).Draw(rt, "count")] {
		names, values = append(names, name), append(values, pick(rt, columns[name]))
	}
	return names, values
}

func setClause(names, values []string) string {
	var parts []string
	for i, name := range names {
		parts = append(parts, name+" = "+values[i])
	}
	return strings.Join(parts, ", ")
}

var sessionColumns = map[string]*rapid.Generator[string]{
	"status": anyStatus, "workflow_type": anyWorkflow, "current_phase": anyPhase, "phase_number": anyNumber,
	"current_round": anyNumber, "current_map_run": anyNumber, "rowid": anyRow, "id": anyID, "updated_at": anyTime,
}

// mostlyMove is what a person changes most: it gives long lives to sessions.
var mostlyMove = map[string]*rapid.Generator[string]{
	"status": anyStatus, "current_phase": anyPhase, "current_round": anyNumber, "current_map_run": anyNumber,
}

// statement draws one statement about sessions, events or processes.
func statement(rt *rapid.T, kinds *rapid.Generator[string]) string {
	id := pick(rt, anyID)
	where := pick(rt, rapid.SampledFrom([]string{" WHERE id = " + id, " WHERE id = " + id, " WHERE status <> 'closed'", ""}))
	bare := func(s string) string { return strings.NewReplacer("current_round", "1").Replace(s) }
	eventValues := func() string {
		return bare(strings.Join([]string{id, pick(rt, kinds), pick(rt, anyPhase), pick(rt, anyNumber), pick(rt, anyNumber), pick(rt, anyMetadata), pick(rt, anyTime)}, ", "))
	}
	sessionValues := func() string {
		return bare(strings.Join([]string{id, "'b'", "'d'", pick(rt, anyStatus), pick(rt, anyWorkflow), pick(rt, anyPhase), pick(rt, anyNumber), pick(rt, anyNumber)}, ", "))
	}
	const (
		eventInto   = " INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata, created_at) VALUES ("
		sessionInto = " INTO sessions (id, branch, session_dir, status, workflow_type, current_phase, current_round, current_map_run"
	)
	conflict := pick(rt, anyConflict)
	switch rapid.IntRange(0, 15).Draw(rt, "statement") {
	case 0, 1, 2, 3:
		return "UPDATE" + conflict + " sessions SET " + setClause(assignments(rt, mostlyMove, 4)) + where
	case 4:
		return "UPDATE" + conflict + " sessions SET " + setClause(assignments(rt, sessionColumns, 9)) + where
	case 5, 6, 7:
		return "INSERT" + conflict + eventInto + eventValues() + ")"
	case 8:
		return "INSERT" + conflict + strings.Replace(eventInto, "(", "(id, ", 1) + bare(pick(rt, anyRow)) + ", " + eventValues() + ")"
	case 9:
		return "INSERT" + conflict + sessionInto + ") VALUES (" + sessionValues() + ")"
	case 10:
		return "INSERT" + conflict + sessionInto + ", rowid) VALUES (" + sessionValues() + ", " + bare(pick(rt, anyRow)) + ")"
	case 11:
		return "INSERT" + sessionInto + ") VALUES (" + sessionValues() + ") ON CONFLICT (id) DO UPDATE SET " + setClause(assignments(rt, mostlyMove, 4))
	case 12:
		names, values := assignments(rt, map[string]*rapid.Generator[string]{
			"round": anyNumber, "event_type": kinds, "id": anyRow, "session_id": anyID, "metadata": anyMetadata,
		}, 5)
		return "UPDATE" + conflict + " orchestration_events SET " + bare(setClause(names, values)) +
			pick(rt, rapid.SampledFrom([]string{"", " WHERE session_id = " + id, " WHERE round = 2"}))
	case 13:
		return pick(rt, rapid.SampledFrom([]string{
			"DELETE FROM sessions" + where, "DELETE FROM orchestration_events", "DELETE FROM orchestration_events WHERE session_id = " + id,
			"DELETE FROM command_executions", "DELETE FROM sqlite_sequence", "UPDATE sqlite_sequence SET seq = 2",
			"REPLACE INTO orchestration_events SELECT * FROM orchestration_events WHERE session_id = 'done'",
			"REPLACE INTO sessions SELECT * FROM sessions", "DELETE FROM review_rounds",
			"INSERT INTO orchestration_events (session_id, event_type, phase, round, metadata) SELECT " + id +
				", event_type, phase, round, metadata FROM orchestration_events WHERE event_type NOT LIKE '%completed'",
		}))
	case 14:
		return "INSERT" + conflict + " INTO command_executions (id, uid, command, workflow_id, finished_at) VALUES (" +
			strings.Join([]string{pick(rt, rapid.SampledFrom([]string{"NULL", "1", "2", "3"})), id, "'x'", id, pick(rt, anyTime)}, ", ") + ")"
	default:
		return "UPDATE" + conflict + " command_executions SET finished_at = " + pick(rt, anyTime) + ", workflow_id = " + id
	}
}

// populate makes one session of each kind that the property speaks of.
func populate(t *testing.T, p prompt) {
	t.Helper()
	p.session(t, "open", "review") // round 1 done, in round 2
	p.completeReview(t, "open", 1)
	p.close(t, "open")
	p.do(t, "UPDATE sessions SET status = 'active', current_phase = 'context', current_round = 2 WHERE id = 'open'")
	p.event(t, "open", "round_started", "context", 1, 2, "NULL")
	p.session(t, "map", "map") // run 1 done, in run 2
	p.completeMap(t, "map", 1)
	p.do(t, "UPDATE sessions SET current_map_run = 2 WHERE id = 'map'")
	p.move(t, "map", "map-context", 1, 1)
	p.session(t, "done", "review")
	p.completeReview(t, "done", 1)
	p.close(t, "done")
	p.session(t, "aborted", "review")
	p.event(t, "aborted", "session_aborted", "context", 1, 1, "NULL")
	p.close(t, "aborted")
}

// TestNoFalseCompletion throws statements at a database: without its
// terminal event no session ever reads as complete, and the log only grows.
func TestNoFalseCompletion(t *testing.T) {
	p := newPrompt(t)
	populate(t, p)
	accepted, refused, ends := 0, 0, 0
	throw := func(rt *rapid.T, kinds []string, check func(rt *rapid.T)) {
		p.do(rt, "BEGIN")
		defer p.do(rt, "ROLLBACK")
		log := logLines(rt, p)
		known := p.rows(rt, "SELECT rowid, id, workflow_type FROM sessions ORDER BY rowid")
		for range rapid.IntRange(1, 25).Draw(rt, "statements") {
			text := statement(rt, rapid.SampledFrom(kinds))
			if p.try(text) != nil {
				refused++
				continue
			}
			accepted++
			now := logLines(rt, p)
			for id, line := range log {
				if now[id] != line {
					rt.Fatalf("event %s changed\nfrom %s\nto   %q\nby   %s", id, line, now[id], text)
				}
			}
			log = now
			for _, line := range known {
				if !slices.Contains(p.rows(rt, "SELECT rowid, id, workflow_type FROM sessions"), line) {
					rt.Fatalf("session %s lost its place by\n%s", line, text)
				}
			}
			check(rt)
			if rt.Failed() {
				rt.Fatalf("after %s", text)
			}
		}
	}

	t.Run("WithoutTerminalEvents", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			throw(rt, quietEvents, func(rt *rapid.T) {
				for _, id := range p.rows(rt, "SELECT session_id FROM session_completeness WHERE completeness_state = 'complete'") {
					if id != "done" {
						rt.Errorf("%s reads as complete", id)
					}
				}
			})
		})
	})

	t.Run("WithTerminalEvents", func(t *testing.T) {
		kinds := append([]string{"'round_completed'", "'round_completed'", "'map_completed'", "'map_completed'"}, quietEvents...)
		rapid.Check(t, func(rt *rapid.T) {
			throw(rt, kinds, func(rt *rapid.T) {
				for _, line := range p.rows(rt, "SELECT session_id, status FROM session_completeness WHERE completeness_state = 'complete'") {
					ends++
					id, status, _ := strings.Cut(line, "|")
					if status != "closed" {
						rt.Errorf("%s is complete and %s", id, status)
					}
					if why := unproved(rt, p, id); why != "" {
						rt.Errorf("%s reads as complete: %s", id, why)
					}
				}
			})
		})
	})
	t.Logf("%d statements accepted, %d refused, complete %d times", accepted, refused, ends)
	if accepted < 200 || refused < 200 || ends < 20 {
		t.Error("the statements do not reach far enough")
	}
}

func logLines(rt *rapid.T, p prompt) map[string]string {
	lines := map[string]string{}
	for _, line := range p.rows(rt, "SELECT id, session_id, event_type, quote(phase), quote(phase_number), quote(round), quote(metadata), created_at FROM orchestration_events") {
		id, _, _ := strings.Cut(line, "|")
		lines[id] = line
	}
	return lines
}

// unproved works out the current round or run from row and log without the
// views, and says what is missing for it.
func unproved(rt *rapid.T, p prompt, id string) string {
	row := p.rows(rt, "SELECT workflow_type, CASE workflow_type WHEN 'map' THEN current_map_run ELSE current_round END FROM sessions WHERE id = '"+id+"'")
	workflow, text, _ := strings.Cut(row[0], "|")
	current := whole(text)
	completed := map[int64]bool{}
	for _, line := range p.rows(rt, "SELECT event_type, IFNULL(phase, ''), typeof(round) || ' ' || IFNULL(round, ''), quote(metadata) FROM orchestration_events WHERE session_id = '"+id+"' ORDER BY id") {
		cells := strings.SplitN(line, "|", 4)
		round, metadata := int64(0), cells[3]
		if number, found := strings.CutPrefix(cells[2], "integer "); found {
			round = whole(number)
		}
		switch {
		case workflow == "review" && cells[0] == "round_completed", workflow == "map" && cells[0] == "map_completed":
			if cells[2] != "null " && strings.HasPrefix(cells[2], "integer ") {
				completed[round] = true
			}
		case workflow == "review" && (cells[0] == "session_created" || cells[0] == "round_started"),
			workflow == "review" && cells[0] == "session_resumed" && metadata != `'{"kind":"forward_resume","round":1}'`:
			current = max(current, round)
		case workflow == "map" && cells[0] == "round_started" && metadata == `'{"map_run":2}'`:
			current = max(current, 2)
		case workflow == "map" && cells[0] == "phase_transition" && cells[1] == "map-context":
			for run := range completed {
				current = max(current, run+1)
			}
		}
	}
	if !completed[current] {
		return fmt.Sprintf("%s %d has no terminal event", workflow, current)
	}
	return ""
}

func whole(text string) int64 {
	var n int64
	_, _ = fmt.Sscan(text, &n)
	return n
}
