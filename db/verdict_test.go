package db

import "testing"

// TestSessionVerdict reads the latest completed round's verdict from the log,
// whatever others have put there.
func TestSessionVerdict(t *testing.T) {
	p := promptAt(t, 11) // before the triggers, as an old log was written
	p.do(t, `INSERT INTO sessions (id, branch, workflow_type, session_dir)
		VALUES ('s', 'b', 'review', 'd'), ('m', 'b', 'map', 'd'), ('odd', 'b', 'review', 'd'), ('new', 'b', 'review', 'd')`)
	p.event(t, "s", "round_completed", "synthesis", 7, 2, `'{"verdict":"REQUEST CHANGES","blocker_count":3}'`)
	p.event(t, "s", "round_completed", "synthesis", 7, 1, `'{"verdict":"APPROVE","blocker_count":0}'`)
	p.event(t, "s", "round_completed", "synthesis", 7, 2, `'{"verdict":"APPROVE","blocker_count":1}'`)
	p.event(t, "m", "round_completed", "synthesis", 7, 1, `'{"verdict":"APPROVE","blocker_count":1}'`)
	p.do(t, `INSERT INTO orchestration_events (session_id, event_type, round, metadata)
		VALUES ('s', 'round_completed', 'last', '{"verdict":"APPROVE"}')`)
	for _, name := range stepNames(t)[11:] {
		p.do(t, stepBody(t, name))
	}
	const query = "SELECT round, verdict, blocker_count FROM session_verdict WHERE session_id = "
	p.want(t, query+"'s'", "2|REQUEST CHANGES|3")
	p.want(t, query+"'m'", "NULL|NULL|NULL")
	p.want(t, query+"'new'", "NULL|NULL|NULL")
	for round, metadata := range []string{"NULL", "'no json'", "'[]'", `'{"source":"reconciled"}'`, `'{"verdict":4,"blocker_count":"4"}'`, `'{"verdict":null,"blocker_count":0.5}'`} {
		p.do(t, "DROP TRIGGER IF EXISTS trg_events_terminal_at_synthesis")
		p.event(t, "odd", "round_completed", "synthesis", 7, round+1, metadata)
		p.want(t, "SELECT round - "+string(rune('1'+round))+", verdict, blocker_count FROM session_verdict WHERE session_id = 'odd'", "0|NULL|NULL")
	}
	p.event(t, "odd", "round_completed", "synthesis", 7, 7, `'{"verdict":"NEEDS DISCUSSION"}'`)
	p.want(t, query+"'odd'", "7|NEEDS DISCUSSION|NULL")
}
