package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ocr/db/gen"
)

// crowd fills a database with sessions of a hundred events each: three
// review rounds or map runs, and processes.
func crowd(t *testing.T, sessions int) prompt {
	t.Helper()
	p := promptAt(t, 11) // before the triggers that look at each event
	p.do(t, fmt.Sprintf(`
INSERT INTO sessions (id, branch, workflow_type, current_phase, session_dir)
SELECT 's' || value, 'b', CASE value %% 4 WHEN 3 THEN 'map' ELSE 'review' END, 'reviews', 'd' FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < %d) SELECT value FROM n);
INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata)
SELECT s.id, CASE
        WHEN n.value = 1 THEN 'session_created'
        WHEN n.value %% 33 = 0 THEN CASE s.workflow_type WHEN 'map' THEN 'map_completed' ELSE 'round_completed' END
        WHEN n.value %% 33 = 1 THEN 'round_started'
        WHEN n.value %% 20 = 0 THEN 'session_resumed'
        ELSE 'phase_transition'
    END,
    CASE WHEN n.value %% 33 < 2 THEN 'context' ELSE 'reviews' END, 4, n.value / 33 + (n.value %% 33 <> 0),
    CASE WHEN n.value %% 33 = 1 THEN '{"map_run":' || (n.value / 33 + 1) || '}' WHEN n.value %% 20 = 0 THEN '{"kind":"forward_resume","round":3}' END
FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 100) SELECT value FROM n) AS n CROSS JOIN sessions AS s;
INSERT INTO command_executions (uid, command, workflow_id, finished_at, last_heartbeat_at)
SELECT s.id || '-' || n.value, 'session-instance', s.id, CASE WHEN n.value > 1 THEN datetime('now') END, datetime('now')
FROM sessions AS s CROSS JOIN (SELECT 1 AS value UNION ALL SELECT 2 UNION ALL SELECT 3) AS n;`, sessions))
	for _, name := range stepNames(t)[11:] {
		p.do(t, stepBody(t, name))
	}
	return p
}

// scans returns the tables and indexes that a statement walks through from
// one end: its program rewinds a cursor on them instead of seeking.
func (p prompt) scans(t *testing.T, text string) (found []string) {
	t.Helper()
	var bound []any
	for strings.Contains(text, fmt.Sprint("?", len(bound)+1)) {
		bound = append(bound, "s7")
	}
	opened, seeks := map[string]string{}, 0
	for _, line := range p.rows(t, "EXPLAIN "+text, bound...) {
		op := strings.SplitN(line, "|", 5) // address, opcode, p1, p2, rest
		switch op[1] {
		case "OpenRead":
			opened[op[2]] = op[3]
		case "Rewind", "Last":
			if root := opened[op[2]]; root != "" {
				found = append(found, p.rows(t, "SELECT name FROM sqlite_schema WHERE rootpage = "+root)...)
			}
		case "SeekGE", "SeekGT", "SeekRowid", "NotExists", "SeekLE", "SeekLT":
			seeks++
		}
	}
	if seeks+len(found) == 0 {
		t.Errorf("the program of this statement touches no table:\n%s", text)
	}
	return found
}

// TestPlans wants the queries of every command to look at one session only,
// in a large file.
func TestPlans(t *testing.T) {
	large := crowd(t, 2000)
	all := statements(t)

	t.Run("Scans", func(t *testing.T) {
		if got := large.scans(t, "SELECT COUNT(metadata) FROM orchestration_events AS e WHERE e.round = ?1"); !slices.Equal(got, []string{"orchestration_events"}) {
			t.Fatalf("the test is blind: %v", got)
		}
		texts := map[string]string{
			"phase_timings by session":      "SELECT * FROM phase_timings WHERE session_id = 's7'",
			"session_projection by session": "SELECT * FROM session_projection WHERE session_id = 's7'",
			"session_completeness":          "SELECT * FROM session_completeness WHERE session_id = 's7'",
			"session_timeline by session":   "SELECT * FROM session_timeline WHERE session_id = 's7'",
			"session_drift by session":      "SELECT * FROM session_drift WHERE session_id = 's7'",
		}
		for _, name := range []string{
			"StateGet", "CompletenessGet", "VerdictGet", "LeaseAttempts", "LeaseNewest", "SessionLastActivity", "JournalFoundDead", "EventLastCompleted", "EventTerminalMetadata", "EventList", "EventPhaseTimings",
			"SessionActiveIDs", "ExecutionWorkflow", "ExecutionLink", "JournalUnfinished", "EventTimeline",
		} {
			if all[name] == "" {
				t.Errorf("no query %s", name)
				continue
			}
			texts[name] = all[name]
		}
		for name, text := range texts {
			if found := large.scans(t, text); len(found) > 0 {
				t.Errorf("%s walks through all of %v", name, found)
			}
		}
	})

	t.Run("Time", func(t *testing.T) {
		small := crowd(t, 20)
		for name, read := range map[string]func(q *gen.Queries, id string) error{
			"StateGet": func(q *gen.Queries, id string) error { _, err := q.StateGet(context.Background(), id); return err },
			"EventPhaseTimings": func(q *gen.Queries, id string) error {
				_, err := q.EventPhaseTimings(context.Background(), id)
				return err
			},
		} {
			once := func(p prompt) func() {
				i := 0
				return func() { i++; must(t, read(gen.New(p.conn), fmt.Sprintf("s%d", i%20+1))) }
			}
			holdProportion(t, name+" among 20 and 2000 sessions", 3, once(small), once(large))
		}
	})

	t.Run("LongLog", func(t *testing.T) {
		p := crowd(t, 4) // s3 is a map
		p.do(t, "DROP TRIGGER trg_events_terminal_at_synthesis")
		p.bare(t, "long", "map")
		for range 20 {
			p.do(t, `INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata)
				SELECT 'long', event_type, phase, phase_number, round, metadata FROM orchestration_events WHERE session_id = 's3'`)
		}
		once := func(id string) func() {
			return func() {
				_, err := gen.New(p.conn).StateGet(context.Background(), id)
				must(t, err)
			}
		}
		holdProportion(t, "StateGet with 100 and 2000 events", 40, once("s3"), once("long"))
	})
}

// holdProportion wants large to do at most factor times the work of small. A
// busy machine can only make a run longer, so that the shortest of many runs
// tells the work: it goes on until that of large is in proportion, and gives up
// after so many runs that the machine cannot be what slows them all.
func holdProportion(t *testing.T, what string, factor time.Duration, small, large func()) {
	t.Helper()
	shortest := func(before time.Duration, run func()) time.Duration {
		start := time.Now()
		run()
		return min(before, time.Since(start))
	}
	const few, many = 20, 500
	base, best := time.Hour, time.Hour
	for range few {
		base = shortest(base, small)
	}
	for range many {
		if best = shortest(best, large); best <= factor*base {
			return
		}
	}
	t.Errorf("%s: %v and %v, more than %d times as long", what, base, best, factor)
}
