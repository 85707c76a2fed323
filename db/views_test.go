package db

import (
	"fmt"
	"strings"
	"testing"
)

// TestProjection checks the fold rules one by one, each by hand.
func TestProjection(t *testing.T) {
	// status | phase | number | round | run | round opened | run opened
	const query = `SELECT status, phase, phase_number, round, map_run, strftime('%s', round_started_at) - 1767355200,
		strftime('%s', map_started_at) - 1767355200 FROM session_projection WHERE session_id = 's'`
	cases := []struct {
		name, workflow string
		log            []string
		want           string
	}{
		{"Silent", "review", nil, "NULL|NULL|NULL|NULL|NULL|NULL|NULL"},
		{"SilentMap", "map", nil, "NULL|NULL|NULL|NULL|NULL|NULL|NULL"},
		{"Created", "review", []string{"1 session_created context 1 1"}, "active|context|1|1|1|1|NULL"},
		{"CreatedMap", "map", []string{"1 session_created map-context 1 1"}, "active|map-context|1|1|1|NULL|1"},
		{"OnlyMoved", "review", []string{"1 phase_transition reviews 4 2"}, "NULL|reviews|4|2|NULL|NULL|NULL"},
		{"Moved", "review", []string{"1 session_created context 1 1", "2 phase_transition reviews 4 1"}, "active|reviews|4|1|1|1|NULL"},
		{"RoundLifted", "review", []string{"1 session_created context 1 1", "2 round_completed synthesis 7 3"}, "active|context|1|3|1|1|NULL"},
		{"RoundNotLowered", "review", []string{"1 session_created context 1 4", "2 round_completed synthesis 7 3"}, "active|context|1|4|1|1|NULL"},
		{"RoundTaken", "review", []string{"1 round_started context 1 4", "2 phase_transition reviews 4 2"}, "active|reviews|4|2|1|1|NULL"},
		{"Resumed", "review", []string{"1 session_created context 1 1", "2 session_aborted reviews 4 1", "3 session_resumed context 1 1"}, "active|context|1|1|1|1|NULL"},
		{"Lease", "review", []string{"1 session_created context 1 1", "2 phase_transition reviews 4 1", `3 session_resumed context 1 7 {"kind":"forward_resume","round":1}`}, "active|reviews|4|1|1|1|NULL"},
		{"NextRound", "review", []string{"1 session_created context 1 1", "5 round_started context 1 2", "9 session_resumed context 1 2"}, "active|context|1|2|1|5|NULL"},
		{"Closed", "review", []string{"1 session_created context 1 1", "2 session_closed complete 8 1"}, "closed|complete|8|1|1|1|NULL"},
		{"Aborted", "review", []string{"1 session_created context 1 1", "2 phase_transition reviews 4 1", "3 session_aborted reviews 4 1", "4 session_closed complete 4 1"}, "closed|complete|4|1|1|1|NULL"},
		{"Stale", "review", []string{"1 session_created context 1 1", "2 phase_transition reviews 4 1", "3 session_auto_closed_stale complete - -"}, "closed|complete|4|1|1|1|NULL"},
		{"Imported", "review", []string{"1 session_created context 1 1", "2 session_aborted reviews 4 1", "3 session_legacy_import complete - -"}, "closed|complete|4|1|1|1|NULL"},
		{"Synced", "review", []string{`1 session_synced context 1 - {"source":"filesystem_backfill","round":3}`}, "closed|context|1|3|NULL|NULL|NULL"},
		{"SyncedMap", "map", []string{`1 session_synced topology 2 - {"source":"filesystem_backfill","map_run":2}`}, "closed|topology|2|NULL|2|NULL|NULL"},
		{"SyncedAndReopened", "review", []string{`1 session_synced complete 8 - {"round":3}`, "5 round_started context 1 4"}, "active|context|1|4|1|5|NULL"},
		{"MapCompleted", "map", []string{"1 session_created map-context 1 1", "2 map_completed synthesis 5 1", "3 phase_transition complete 6 1"}, "active|complete|6|1|1|NULL|1"},
		{"MapRunByMove", "map", []string{"1 session_created map-context 1 1", "2 map_completed synthesis 5 1", "3 phase_transition complete 6 1", "4 phase_transition map-context 1 1", "5 phase_transition map-context 1 1"}, "active|map-context|1|1|2|NULL|4"},
		{"MapRunStarted", "map", []string{"1 session_created map-context 1 1", "2 phase_transition map-context 1 1", `3 round_started map-context 1 1 {"map_run":2}`}, "active|map-context|1|1|2|NULL|3"},
		{"MapIgnoresRound", "map", []string{"1 session_created map-context 1 1", "2 round_started map-context 1 5", "3 round_completed synthesis 5 7"}, "active|map-context|1|1|1|NULL|1"},
		{"ReviewIgnoresRun", "review", []string{"1 session_created context 1 1", `2 round_started context 1 2 {"map_run":5}`, "3 map_completed synthesis 5 7"}, "active|context|1|2|1|2|NULL"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPrompt(t)
			p.bare(t, "s", c.workflow)
			p.logAt(t, "s", c.log...)
			p.want(t, query, c.want)
		})
	}
}

// TestDrift shows what counts as a difference and what does not.
func TestDrift(t *testing.T) {
	const query = "SELECT session_id, field, row_value, log_value FROM session_drift ORDER BY session_id, field"
	p := newPrompt(t)
	p.bare(t, "silent", "review")
	p.session(t, "r", "review")
	p.session(t, "m", "map")
	p.want(t, query)
	p.do(t, "UPDATE sessions SET phase_number = 7, current_round = 5, current_map_run = 5") // above the log, and the number of a phase
	p.want(t, query)
	p.do(t, "UPDATE sessions SET current_round = 1, current_map_run = 1, current_phase = 'reviews' WHERE id <> 'silent'")
	p.event(t, "r", "round_started", "context", 1, 3, "NULL")
	p.event(t, "m", "round_started", "map-context", 1, 3, `'{"map_run":2}'`)
	p.want(t, query, "m|current_map_run|1|2", "m|current_phase|reviews|map-context", "r|current_phase|reviews|context", "r|current_round|1|3")
	p.event(t, "r", "session_aborted", "context", 1, 3, "NULL")
	p.do(t, "UPDATE sessions SET current_round = 3, current_phase = 'complete' WHERE id = 'r'", "UPDATE sessions SET current_map_run = 2, current_phase = 'map-context' WHERE id = 'm'")
	p.want(t, query, "r|status|active|closed")
	p.do(t, "UPDATE sessions SET status = 'closed' WHERE id = 'r'")
	p.want(t, query)
	p.event(t, "r", "phase_transition", "context", 1, 3, "NULL") // a closed row's phase is not compared
	p.want(t, query)
}

// TestCompleteness walks the four states.
func TestCompleteness(t *testing.T) {
	for _, workflow := range []string{"review", "map"} {
		p := newPrompt(t)
		p.session(t, "s", workflow)
		p.session(t, "other", workflow)
		p.do(t, "INSERT INTO command_executions (command, workflow_id, finished_at) VALUES ('x', 's', '2026-01-02 12:00:00'), ('x', 'other', NULL), ('x', NULL, NULL)")
		const query = "SELECT has_terminal_artifact, marked_closed, dependents_settled, completeness_state FROM session_completeness WHERE session_id = 's'"
		p.want(t, query, "0|0|1|open_no_artifact")
		p.do(t, "INSERT INTO command_executions (uid, command, workflow_id) VALUES ('u', 'x', 's')")
		p.want(t, query, "0|0|0|in_flight")
		if workflow == "map" {
			p.completeMap(t, "s", 1)
		} else {
			p.completeReview(t, "s", 1)
		}
		p.want(t, query, "1|0|0|in_flight")
		p.close(t, "s")
		p.want(t, query, "1|1|0|complete")
		p.do(t, "UPDATE command_executions SET finished_at = started_at")
		p.want(t, query, "1|1|1|complete")
		p.event(t, "other", "session_aborted", "context", 1, 1, "NULL")
		p.close(t, "other")
		p.want(t, strings.Replace(query, "'s'", "'other'", 1), "0|1|1|closed_without_artifact")
	}
}

// TestAgentJournal goes through the table of kinds and statuses.
func TestAgentJournal(t *testing.T) {
	p := newPrompt(t)
	kinds := []struct{ command, heartbeat, want string }{
		{"session-instance", "NULL", "instance"}, {"session-instance", "'2026-01-02 12:00:00'", "instance"},
		{"session-instance:architect-1", "NULL", "instance"}, {"session-instance:", "'2026-01-02 12:00:00'", "instance"},
		{"session-instances", "'2026-01-02 12:00:00'", "supervisor"}, {"Session-Instance", "NULL", "utility"}, {" session-instance", "NULL", "utility"},
		{"ocr review", "'2026-01-02 12:00:00'", "supervisor"}, {"ocr review", "''", "supervisor"}, {"ocr review", "NULL", "utility"}, {"", "NULL", "utility"},
	}
	for i, c := range kinds {
		p.do(t, fmt.Sprintf("INSERT INTO command_executions (id, command, last_heartbeat_at) VALUES (%d, '%s', %s)", i+1, c.command, c.heartbeat))
		p.want(t, fmt.Sprintf("SELECT kind, status FROM agent_journal WHERE execution_id = %d", i+1), c.want+"|running")
	}
	statuses := []struct{ finished, code, want string }{
		{"NULL", "NULL", "running"}, {"NULL", "0", "running"}, {"NULL", "-3", "running"},
		{"'2026-01-02 12:00:00'", "0", "done"}, {"'2026-01-02 12:00:00'", "-3", "orphaned"}, {"'2026-01-02 12:00:00'", "-2", "cancelled"},
		{"'2026-01-02 12:00:00'", "-4", "cancelled"}, {"'2026-01-02 12:00:00'", "-5", "crashed"}, {"'2026-01-02 12:00:00'", "1", "crashed"},
		{"'2026-01-02 12:00:00'", "-1", "crashed"}, {"'2026-01-02 12:00:00'", "NULL", "crashed"}, {"''", "0", "done"},
	}
	for i, c := range statuses {
		p.do(t, fmt.Sprintf("INSERT INTO command_executions (id, command, finished_at, exit_code) VALUES (%d, 'x', %s, %s)", i+100, c.finished, c.code))
		p.want(t, fmt.Sprintf("SELECT status, kind FROM agent_journal WHERE execution_id = %d", i+100), c.want+"|utility")
	}
	p.do(t, "DELETE FROM command_executions",
		`INSERT INTO command_executions (id, uid, command, workflow_id, vendor, vendor_session_id, persona, instance_index, name, resolved_model, pid,
			started_at, last_heartbeat_at, finished_at, exit_code, notes)
		VALUES (7, 'u-7', 'session-instance:qa-2', 's', 'claude', 'v-1', 'qa', 2, 'qa-2', 'm', 4242, '2026-01-02 12:00:00', '2026-01-02T12:00:05Z', '2026-01-02 12:00:09', 1, 'n')`,
		"INSERT INTO command_executions (id, command, started_at, last_heartbeat_at) VALUES (8, 'x', '2026-01-02 12:00:00', 'yesterday')",
		"INSERT INTO process_identity (execution_id, host, phase) VALUES (7, 'h', 'reviews')")
	p.want(t, `SELECT execution_id, id, workflow_id, vendor, vendor_session_id, persona, instance_index, name, resolved_model, phase, status, kind, pid,
			started_at, last_heartbeat_at, ended_at, exit_code, notes FROM agent_journal ORDER BY execution_id`,
		"7|u-7|s|claude|v-1|qa|2|qa-2|m|reviews|crashed|instance|4242|2026-01-02 12:00:00|2026-01-02T12:00:05Z|2026-01-02 12:00:09|1|n",
		"8|8|||NULL|NULL|NULL|NULL|NULL|NULL|running|supervisor|NULL|2026-01-02 12:00:00|yesterday|NULL|NULL|NULL")
	p.want(t, "SELECT heartbeat_epoch FROM agent_journal WHERE id = 'u-7'", "1767355205")
	p.want(t, "SELECT heartbeat_epoch FROM agent_journal WHERE id = '8'", "NULL")
	for _, text := range []string{"2026-01-02 12:00:05", "2026-01-02T12:00:05.123Z", "2026-01-02T14:00:05+02:00"} {
		p.do(t, "UPDATE command_executions SET last_heartbeat_at = '"+text+"' WHERE id = 8")
		p.want(t, "SELECT heartbeat_epoch FROM agent_journal WHERE id = '8'", "1767355205")
	}
}

// TestProcessIdentity: a value of another type, which once stopped every
// listing, is refused; those of before became NULL on the way here.
func TestProcessIdentity(t *testing.T) {
	p := newPrompt(t)
	p.do(t, "INSERT INTO command_executions (id, uid, command) VALUES (7, 'u-7', 'x')",
		"INSERT INTO process_identity (execution_id, host, pid, pid_started_ms, pid_started_ticks) VALUES (7, 'h', 4, 5, 6)")
	for column, values := range map[string][]string{
		"host": {"x'00ff'"}, "machine": {"x'00'"}, "boot_id": {"x'00'"}, "pid_space": {"x'00'"}, "time_space": {"x'00'"}, "phase": {"x'00'"},
		"pid": {"'abc'", "1.5", "0", "-1", "x'00'"}, "pid_started_ms": {"'abc'", "0.5", "-5"}, "pid_started_ticks": {"'abc'", "1e300", "0"},
	} {
		for _, value := range values {
			p.refused(t, "", "UPDATE process_identity SET "+column+" = "+value)
		}
	}
	p.want(t, "SELECT host, recorded_pid, pid_started_ms, pid_started_ticks FROM agent_journal", "h|4|5|6")
}

// TestOpenFindings picks the latest completed round and leaves out what is
// settled.
func TestOpenFindings(t *testing.T) {
	p := newPrompt(t)
	p.bare(t, "s", "review")
	p.bare(t, "quiet", "review")
	for round := 1; round <= 3; round++ {
		p.do(t, fmt.Sprintf("INSERT INTO review_rounds (id, session_id, round_number) VALUES (%d, 's', %d)", round, round),
			fmt.Sprintf("INSERT INTO reviewer_outputs (id, round_id, reviewer_type, instance_number, file_path) VALUES (%d, %d, 'qa', %d, 'f')", round, round, round),
			fmt.Sprintf("INSERT INTO review_findings (id, reviewer_output_id, title, severity, category) VALUES (%d, %d, 'round %d', 'low', 'style')", round*10, round, round))
	}
	p.do(t, "INSERT INTO review_rounds (id, session_id, round_number) VALUES (9, 'quiet', 1)", "INSERT INTO reviewer_outputs (id, round_id, reviewer_type, file_path) VALUES (9, 9, 'qa', 'f')",
		"INSERT INTO review_findings (id, reviewer_output_id, title, severity) VALUES (90, 9, 'never completed', 'low')")
	const query = "SELECT session_id, round, finding_id, reviewer, category, triage FROM open_findings ORDER BY finding_id"
	p.want(t, query)
	p.event(t, "s", "round_completed", "synthesis", 7, 1, "NULL")
	p.want(t, query, "s|1|10|qa-1|style|unread")
	p.event(t, "s", "round_completed", "synthesis", 7, 2, "NULL")
	p.do(t, "INSERT INTO orchestration_events (session_id, event_type, round) VALUES ('s', 'round_completed', 'last'), ('s', 'round_completed', 2.5)")
	p.do(t, `INSERT INTO review_findings (id, reviewer_output_id, title, severity, category, is_blocker, file_path, line_start, line_end, summary) VALUES
		(21, 2, 'b', 'high', NULL, 1, 'a.go', 3, 4, 'why'), (22, 2, 'c', 'high', NULL, 0, NULL, NULL, NULL, NULL), (23, 2, 'd', 'high', 'suggestion', 1, NULL, NULL, NULL, NULL),
		(24, 2, 'e', 'low', 'style', 0, NULL, NULL, NULL, NULL), (25, 2, 'f', 'low', 'style', 0, NULL, NULL, NULL, NULL), (26, 2, 'g', 'low', 'style', 0, NULL, NULL, NULL, NULL)`,
		"INSERT INTO user_finding_progress (finding_id, status) VALUES (24, 'fixed'), (25, 'wont_fix'), (26, 'acknowledged'), (22, 'read')")
	p.want(t, query, "s|2|20|qa-2|style|unread", "s|2|21|qa-2|blocker|unread", "s|2|22|qa-2|suggestion|read", "s|2|23|qa-2|suggestion|unread", "s|2|26|qa-2|style|acknowledged")
	p.want(t, "SELECT severity, title, file_path, line_start, line_end, summary FROM open_findings WHERE finding_id = 21", "high|b|a.go|3|4|why")
}

// TestWorkflowPhases compares the phases with the two workflows.
func TestWorkflowPhases(t *testing.T) {
	p := newPrompt(t)
	const query = "SELECT phase_number, phase FROM workflow_phases WHERE workflow_type = "
	p.want(t, query+"'review' ORDER BY phase_number", "1|context", "2|change-context", "3|analysis", "4|reviews", "5|aggregation", "6|discourse", "7|synthesis", "8|complete")
	p.want(t, query+"'map' ORDER BY phase_number", "1|map-context", "2|topology", "3|flow-analysis", "4|requirements-mapping", "5|synthesis", "6|complete")
	p.want(t, "SELECT COUNT(*) FROM workflow_phases", "14")
}
