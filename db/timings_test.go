package db

import (
	"fmt"
	"strings"
	"testing"
)

// logAt appends events given as "seconds kind phase number round metadata",
// seconds after noon; "-" is NULL, and a first word that is no number is
// taken for the time itself.
func (p prompt) logAt(t *testing.T, id string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		words := strings.SplitN(line, " ", 6)
		for len(words) < 6 {
			words = append(words, "-")
		}
		for i, word := range words {
			words[i] = "'" + word + "'"
			if word == "-" {
				words[i] = "NULL"
			}
		}
		var seconds int
		at := words[0]
		if n, _ := fmt.Sscanf(at, "'%d'", &seconds); n == 1 && !strings.Contains(at, "-") {
			at = fmt.Sprintf("datetime('2026-01-02 12:00:00', '+%d seconds')", seconds)
		}
		p.do(t, fmt.Sprintf(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata, created_at)
			VALUES ('%s', %s, %s, %s, %s, %s, %s)`, id, words[1], words[2], words[3], words[4], words[5], at))
	}
}

// bare adds a session's row alone, in a phase that lets its log be written.
func (p prompt) bare(t *testing.T, id, workflow string) {
	t.Helper()
	p.do(t, fmt.Sprintf("INSERT INTO sessions (id, branch, workflow_type, current_phase, session_dir) VALUES ('%s', 'b', '%s', 'synthesis', 'd')", id, workflow))
}

// TestPhaseTimings compares visits with hand-computed ones.
func TestPhaseTimings(t *testing.T) {
	const query = "SELECT visit, phase, phase_number, round, map_run, strftime('%s', entered_at) - 1767355200, strftime('%s', left_at) - 1767355200, seconds FROM phase_timings WHERE session_id = 's' ORDER BY visit"
	cases := []struct {
		name, workflow string
		log, want      []string
	}{
		{"Empty", "review", nil, nil},
		{"Running", "review", []string{"0 session_created context 1 1"}, []string{"1|context|1|1|NULL|0|NULL|NULL"}},
		{"ReviewToTheEnd", "review", []string{
			"0 session_created context 1 1", "10 phase_transition change-context 2 1", "30 phase_transition synthesis 7 1",
			"60 round_completed synthesis 7 1 {}", "61 phase_transition complete 8 1", "100 session_closed complete 8 1",
		}, []string{
			"1|context|1|1|NULL|0|10|10", "2|change-context|2|1|NULL|10|30|20", "3|synthesis|7|1|NULL|30|61|31", "4|complete|8|1|NULL|61|100|39",
		}},
		{"SelfLoopsAndLeases", "review", []string{
			"0 session_created context 1 1", "5 phase_transition reviews 4 1", "9 phase_transition reviews 4 1",
			`12 session_resumed - - - {"kind":"forward_resume","round":1}`, "15 phase_transition reviews 4 1", "20 phase_transition aggregation 5 1",
		}, []string{"1|context|1|1|NULL|0|5|5", "2|reviews|4|1|NULL|5|20|15", "3|aggregation|5|1|NULL|20|NULL|NULL"}},
		{"NextRound", "review", []string{
			"0 session_created context 1 1", "5 phase_transition context 1 2", "5 round_started context 1 2", "9 phase_transition change-context 2 2",
		}, []string{"1|context|1|1|NULL|0|5|5", "2|context|1|2|NULL|5|9|4", "3|change-context|2|2|NULL|9|NULL|NULL"}},
		{"AbortAndReopen", "review", []string{
			"0 session_created context 1 1", "7 phase_transition reviews 4 1", "20 session_aborted reviews 4 1", "20 session_closed complete 4 1",
			"500 session_resumed context 1 1", "510 phase_transition change-context 2 1",
		}, []string{"1|context|1|1|NULL|0|7|7", "2|reviews|4|1|NULL|7|20|13", "3|context|1|1|NULL|500|510|10", "4|change-context|2|1|NULL|510|NULL|NULL"}},
		{"ReopenInTheSamePhase", "review", []string{
			"0 session_created context 1 1", "20 session_aborted context 1 1", "50 session_resumed context 1 1",
		}, []string{"1|context|1|1|NULL|0|20|20", "2|context|1|1|NULL|50|NULL|NULL"}},
		{"StaleClose", "review", []string{"0 session_created context 1 1", "40 session_auto_closed_stale complete - -"},
			[]string{"1|context|1|1|NULL|0|40|40"}},
		{"OnlyFromDisk", "review", []string{"0 session_synced complete 8 -", "9 round_completed synthesis 7 1"}, nil},
		{"RepairedAfterClose", "review", []string{
			"0 session_created context 1 1", "40 session_closed complete 8 1", "99 round_completed synthesis 7 1",
		}, []string{"1|context|1|1|NULL|0|40|40"}},
		{"ClockBackwards", "review", []string{"50 session_created context 1 1", "20 phase_transition reviews 4 1", "30 phase_transition synthesis 7 1"},
			[]string{"1|context|1|1|NULL|50|20|0", "2|reviews|4|1|NULL|20|30|10", "3|synthesis|7|1|NULL|30|NULL|NULL"}},
		{"Unreadable", "review", []string{"0 session_created context 1 1", "yesterday phase_transition reviews 4 1", "30 phase_transition synthesis 7 1", "never session_closed complete 8 1"},
			[]string{"1|context|1|1|NULL|0|NULL|NULL", "2|reviews|4|1|NULL|NULL|30|NULL", "3|synthesis|7|1|NULL|30|NULL|NULL"}},
		{"ISO", "review", []string{
			"2026-01-02T12:00:00Z session_created context 1 1", "2026-01-02T12:00:10.900Z phase_transition change-context 2 1",
			"2026-01-02T14:00:30+02:00 phase_transition analysis 3 1", "2026-01-02T09:01:00.5-03:00 phase_transition reviews 4 1",
			"2026-01-02T12:02:00 phase_transition aggregation 5 1", "180 phase_transition discourse 6 1",
		}, []string{
			"1|context|1|1|NULL|0|10|10", "2|change-context|2|1|NULL|10|30|20", "3|analysis|3|1|NULL|30|60|30",
			"4|reviews|4|1|NULL|60|120|60", "5|aggregation|5|1|NULL|120|180|60", "6|discourse|6|1|NULL|180|NULL|NULL",
		}},
		{"MapOfThreeRuns", "map", []string{
			"0 session_created map-context 1 1", "10 phase_transition synthesis 5 1", "20 map_completed synthesis 5 1", "20 phase_transition complete 6 1",
			"30 phase_transition map-context 1 1", "40 phase_transition topology 2 1", // run 2, opened by the move alone
			"50 phase_transition map-context 1 1", `50 round_started map-context 1 1 {"map_run":3}`, // run 3 from the middle of run 2
			"60 phase_transition topology 2 1",
		}, []string{
			"1|map-context|1|1|1|0|10|10", "2|synthesis|5|1|1|10|20|10", "3|complete|6|1|1|20|30|10",
			"4|map-context|1|1|2|30|40|10", "5|topology|2|1|2|40|50|10", "6|map-context|1|1|3|50|60|10", "7|topology|2|1|3|60|NULL|NULL",
		}},
		{"MapFirstPhaseTwice", "map", []string{
			"0 session_created map-context 1 1", "10 phase_transition map-context 1 1", `10 round_started map-context 1 1 {"map_run":2}`, "25 phase_transition topology 2 1",
		}, []string{"1|map-context|1|1|1|0|10|10", "2|map-context|1|1|2|10|25|15", "3|topology|2|1|2|25|NULL|NULL"}},
		{"MapReopened", "map", []string{
			"0 session_created map-context 1 1", "20 map_completed synthesis 5 1", "20 phase_transition complete 6 1", "25 session_closed complete 6 1",
			`60 round_started map-context 1 1 {"map_run":2}`, "70 session_aborted map-context 1 1",
		}, []string{"1|map-context|1|1|1|0|20|20", "2|complete|6|1|1|20|25|5", "3|map-context|1|1|2|60|70|10"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPrompt(t)
			p.bare(t, "other", c.workflow)
			p.bare(t, "s", c.workflow)
			for _, line := range c.log { // another session's events in between
				p.logAt(t, "other", "0 session_resumed reviews 4 9")
				p.logAt(t, "s", line)
			}
			p.want(t, query, c.want...)
		})
	}
}

// TestTimeline compares every column of the timeline once.
func TestTimeline(t *testing.T) {
	p := newPrompt(t)
	p.bare(t, "m", "map")
	p.bare(t, "r", "review")
	p.logAt(t, "m", "0 session_created map-context 1 1")
	p.logAt(t, "r", "1 session_created context 1 1", `2 session_resumed - - - {"kind":"forward_resume","round":1}`,
		"2026-01-02T14:00:03+02:00 session_resumed context 1 2 {", "soon phase_transition reviews 4 2", `5 session_synced complete 8 - {"round":3}`)
	p.logAt(t, "m", "6 map_completed synthesis 5 1", "7 phase_transition complete 6 1", "8 phase_transition map-context 1 1", "9 map_completed synthesis 5 2", "10 session_closed complete 6 1")
	const query = "SELECT event_id, created_at, at_epoch - 1767355200, event_type, phase, phase_number, round, map_run, is_lease, metadata FROM session_timeline WHERE session_id = "
	p.want(t, query+"'r' ORDER BY event_id",
		"2|2026-01-02 12:00:01|1|session_created|context|1|1|NULL|0|NULL",
		`3|2026-01-02 12:00:02|2|session_resumed|NULL|NULL|NULL|NULL|1|{"kind":"forward_resume","round":1}`,
		"4|2026-01-02T14:00:03+02:00|3|session_resumed|context|1|2|NULL|0|{",
		"5|soon|NULL|phase_transition|reviews|4|2|NULL|0|NULL",
		`6|2026-01-02 12:00:05|5|session_synced|complete|8|3|NULL|0|{"round":3}`)
	p.want(t, strings.Replace(query, "created_at, ", "", 1)+"'m' AND event_id > 1 ORDER BY event_id",
		"7|6|map_completed|synthesis|5|NULL|1|0|NULL", "8|7|phase_transition|complete|6|1|1|0|NULL", "9|8|phase_transition|map-context|1|1|2|0|NULL",
		"10|9|map_completed|synthesis|5|NULL|2|0|NULL", "11|10|session_closed|complete|6|1|2|0|NULL")
}

// TestTimes tells readable times from others.
func TestTimes(t *testing.T) {
	p := newPrompt(t)
	p.bare(t, "s", "review")
	for text, want := range map[string]string{
		"'2026-01-02 12:00:00'": "0", "'2026-01-02T12:00:00Z'": "0", "'2026-01-02T12:00:00.999Z'": "0", "'2026-01-02 12:00'": "0",
		"'2026-01-02T14:00:00+02:00'": "0", "'2026-01-02T01:30:00-10:30'": "0", "'2026-01-02'": "-43200",
		"'now'": "NULL", "''": "NULL", "'yesterday'": "NULL", "'12:00:00'": "NULL", "'1767355200'": "NULL", "'2461043'": "NULL",
		"'2026-01-02T12:00:00+0200'": "NULL", "'2026-13-02 12:00:00'": "NULL", "'2026-01-02 25:00:00'": "NULL", "'2026-01-02 12:00:00 later'": "NULL", "x'00'": "NULL", "17": "NULL",
	} {
		p.do(t, "INSERT INTO orchestration_events (session_id, event_type, created_at) VALUES ('s', 'session_resumed', "+text+")")
		if got := p.rows(t, "SELECT at_epoch - 1767355200 FROM event_facts ORDER BY event_id DESC LIMIT 1"); got[0] != want {
			t.Errorf("%s: %s, want %s", text, got[0], want)
		}
	}
}
