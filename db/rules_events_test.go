package db

import (
	"fmt"
	"testing"
)

// TestEventRules holds the log to what it promises, by raw SQL with foreign
// keys off.
func TestEventRules(t *testing.T) {
	const columns = "INSERT INTO orchestration_events (id, session_id, event_type, phase, round) VALUES "

	t.Run("KnownType", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		p.move(t, "s", "synthesis", 7, 1)
		for _, kind := range []string{
			"session_created", "session_resumed", "round_started", "phase_transition", "round_completed",
			"map_completed", "session_closed", "session_aborted", "session_auto_closed_stale",
			"session_synced", "session_legacy_import",
		} {
			p.event(t, "s", kind, "synthesis", 7, 1, "NULL")
		}
		for _, kind := range []string{"'round_complete'", "''", "'ROUND_COMPLETED'", "'round_completed '", "x'726f756e645f636f6d706c65746564'", "7"} {
			p.refused(t, "unknown orchestration_events.event_type", "INSERT INTO orchestration_events (session_id, event_type) VALUES ('s', "+kind+")")
			p.refused(t, "unknown orchestration_events.event_type", "INSERT OR IGNORE INTO orchestration_events (session_id, event_type) VALUES ('s', "+kind+")")
		}
		p.refused(t, "NOT NULL", "INSERT INTO orchestration_events (session_id, event_type) VALUES ('s', NULL)")
		p.refused(t, "NOT NULL", "REPLACE INTO orchestration_events (session_id, event_type) VALUES ('s', NULL)")
	})

	t.Run("NeverChanged", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		for _, statement := range []string{
			"UPDATE orchestration_events SET metadata = '{}'",
			"UPDATE orchestration_events SET id = 9 WHERE id = 1",
			"UPDATE orchestration_events SET rowid = 9",
			"UPDATE orchestration_events SET round = round, event_type = event_type",
			"UPDATE OR REPLACE orchestration_events SET id = 1",
			"UPDATE OR IGNORE orchestration_events SET session_id = 'x'",
			"UPDATE OR FAIL orchestration_events SET event_type = 'round_completed'",
			"UPDATE orchestration_events SET round = n.r FROM (SELECT 2 AS r) AS n",
		} {
			p.refused(t, "events are never changed: append a new one", statement)
		}
		p.ignored(t, "UPDATE orchestration_events SET round = 2 WHERE session_id = 'nobody'")
	})

	t.Run("NeverDeleted", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		p.refused(t, "events are never deleted", "DELETE FROM orchestration_events")
		p.refused(t, "events are never deleted", "DELETE FROM orchestration_events WHERE id = 1")
		p.ignored(t, "DELETE FROM orchestration_events WHERE id = 99")
		p.do(t, "PRAGMA recursive_triggers = ON")
		p.refused(t, "events are never", "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES (1, 's', 'session_created')")
	})

	t.Run("NeverReplaced", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		row := " (id, session_id, event_type) VALUES (1, 's', 'session_aborted')"
		for _, verb := range []string{
			"REPLACE", "INSERT OR REPLACE", "INSERT", "INSERT OR IGNORE", "INSERT OR FAIL",
		} {
			p.refused(t, "events are never replaced", verb+" INTO orchestration_events"+row)
		}
		for _, id := range []string{"'1'", "1.0", "(SELECT MIN(id) FROM orchestration_events)"} {
			p.refused(t, "events are never replaced", "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES ("+id+", 's', 'session_aborted')")
		}
		for _, name := range []string{"rowid", "oid", "_rowid_"} {
			p.refused(t, "events are never replaced", "REPLACE INTO orchestration_events ("+name+", session_id, event_type) VALUES (1, 's', 'session_aborted')")
			p.refused(t, "events are never replaced", "REPLACE INTO orchestration_events (id, "+name+", session_id, event_type) VALUES (NULL, 1, 's', 'session_aborted')")
		}
		p.refused(t, "events are never replaced", "INSERT INTO orchestration_events"+row+" ON CONFLICT (id) DO UPDATE SET event_type = 'session_aborted'")
		p.refused(t, "events are never replaced", "REPLACE INTO orchestration_events SELECT * FROM orchestration_events")
		p.refused(t, "events are never replaced", "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES (7, 's', 'session_resumed'), (7, 's', 'session_aborted')")
		p.refused(t, "datatype mismatch", "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES ('one', 's', 'session_aborted')")
	})

	t.Run("IDs", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		for _, id := range []int{0, -1, -7} {
			p.refused(t, "event ids start at 1", columns+fmt.Sprintf("(%d, 's', 'session_resumed', NULL, NULL)", id))
			p.refused(t, "event ids start at 1", "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES ("+fmt.Sprint(id)+", 's', 'session_resumed')")
		}
		for _, id := range []string{"9223372036854775807", "9007199254740992", "'9223372036854775807'"} {
			p.refused(t, "an event id this high leaves no room for the next", "INSERT OR IGNORE INTO orchestration_events (id, session_id, event_type) VALUES ("+id+", 's', 'session_resumed')")
		}
		p.do(t, columns+"(NULL, 's', 'session_resumed', NULL, NULL)", columns+"(40, 's', 'session_resumed', NULL, NULL)", columns+"(NULL, 's', 'session_resumed', NULL, NULL)")
		p.want(t, "SELECT id FROM orchestration_events", "1", "2", "40", "41")
		p.do(t, "DELETE FROM sqlite_sequence")
		p.event(t, "s", "session_resumed", "context", 1, 1, "NULL")
		p.want(t, "SELECT MAX(id) FROM orchestration_events", "42")
	})

	t.Run("OnlyGrow", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		const message = "event ids only grow"
		event := func(id string) string { return columns + "(" + id + ", 's', 'session_resumed', NULL, NULL)" }
		p.do(t, event("7000000"))
		for _, id := range []string{"6000000", "2", "'6999999'", "6999999.0"} {
			p.refused(t, message, event(id))
			p.refused(t, message, "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES ("+id+", 's', 'session_aborted')")
			p.refused(t, message, "INSERT OR IGNORE INTO orchestration_events (rowid, session_id, event_type) VALUES ("+id+", 's', 'session_aborted')")
		}
		p.refused(t, message, columns+"(7000003, 's', 'session_resumed', NULL, NULL), (7000002, 's', 'session_resumed', NULL, NULL)")
		p.do(t, event("NULL"), event("7000002"))
		// An end of the log that was cut off is not filled in.
		p.do(t, "DROP TRIGGER trg_events_never_deleted", "DELETE FROM orchestration_events WHERE id > 7000000")
		p.refused(t, message, event("7000001"))
		p.do(t, event("NULL"), "DELETE FROM sqlite_sequence", event("NULL"))
		p.refused(t, message, event("7000002"))
		p.want(t, "SELECT id FROM orchestration_events", "1", "7000000", "7000003", "7000004")
	})

	t.Run("OldIDBelowOne", func(t *testing.T) {
		// -1 is also what NEW.id says when no id is given.
		p := promptAt(t, SharedLatest)
		p.do(t, "INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', 'review', 'd')",
			columns+"(-1, 's', 'session_created', 'context', 1)")
		applyOwnSteps(t, p)
		p.event(t, "s", "phase_transition", "analysis", 3, 1, "NULL")
		p.refused(t, "event", "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES (-1, 's', 'session_aborted')")
		p.want(t, "SELECT id, event_type FROM orchestration_events ORDER BY id", "-1|session_created", "1|phase_transition")
	})

	t.Run("OneTerminal", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "r", "review")
		p.session(t, "m", "map")
		p.completeReview(t, "r", 1)
		p.completeMap(t, "m", 1)
		p.ignored(t, eventSQL("r", "round_completed", "synthesis", 7, 1, `'{"verdict":"APPROVE"}'`))
		p.ignored(t, eventSQL("m", "map_completed", "synthesis", 5, 1, "NULL"))
		p.ignored(t, "INSERT OR REPLACE INTO orchestration_events (session_id, event_type, round) VALUES ('r', 'round_completed', '1'), ('r', 'round_completed', 1.0)")
		p.do(t, "UPDATE sessions SET current_phase = 'synthesis' WHERE id = 'r'")
		p.ignored(t, eventSQL("r", "round_completed", "synthesis", 7, 1, "NULL"))
		p.event(t, "r", "round_completed", "synthesis", 7, 2, "NULL")
		p.want(t, "SELECT session_id, round FROM orchestration_events WHERE event_type LIKE '%completed'", "r|1", "m|1", "r|2")
		p.do(t, "INSERT INTO orchestration_events (session_id, event_type) VALUES ('r', 'round_completed')")
		p.ignored(t, "INSERT INTO orchestration_events (session_id, event_type) VALUES ('r', 'round_completed')")
	})

	t.Run("OldDoubles", func(t *testing.T) {
		p := promptAt(t, SharedLatest)
		p.do(t, "INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', 'review', 'd')")
		for range 2 {
			p.event(t, "s", "round_completed", "synthesis", 7, 1, "NULL")
		}
		applyOwnSteps(t, p)
		p.want(t, "SELECT COUNT(*) FROM orchestration_events", "2")
		p.ignored(t, eventSQL("s", "round_completed", "synthesis", 7, 1, "NULL"))
	})

	t.Run("TerminalAtSynthesis", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "r", "review")
		p.session(t, "m", "map")
		const message = "an active session is completed from the phase synthesis only"
		for _, verb := range []string{"INSERT", "INSERT OR IGNORE", "REPLACE"} {
			p.refused(t, message, verb+" INTO orchestration_events (session_id, event_type, round) VALUES ('r', 'round_completed', 1)")
			p.refused(t, message, verb+" INTO orchestration_events (session_id, event_type, round) VALUES ('m', 'map_completed', 1)")
		}
		p.do(t, "UPDATE sessions SET current_phase = x'73796e746865736973' WHERE id = 'r'")
		p.refused(t, message, eventSQL("r", "round_completed", "synthesis", 7, 1, "NULL"))
		p.do(t, "UPDATE sessions SET current_phase = 'synthesis'")
		p.event(t, "r", "round_completed", "synthesis", 7, 1, "NULL")
		p.event(t, "m", "map_completed", "synthesis", 5, 1, "NULL")
		// A repair completes a session that is closed already.
		p.session(t, "c", "review")
		p.event(t, "c", "session_aborted", "context", 1, 1, "NULL")
		p.do(t, "UPDATE sessions SET status = 'closed' WHERE id = 'c'")
		p.event(t, "c", "round_completed", "synthesis", 7, 1, "NULL")
	})
}

// applyOwnSteps brings a database of the last shared version up to date.
func applyOwnSteps(t *testing.T, p prompt) {
	t.Helper()
	for _, name := range stepNames(t)[SharedLatest:] {
		p.do(t, stepBody(t, name))
	}
}
