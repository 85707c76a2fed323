package db

import "testing"

// TestSessionRules holds the rows of sessions to what they promise, by raw
// SQL with foreign keys off.
func TestSessionRules(t *testing.T) {
	const columns = "sessions (id, branch, workflow_type, current_phase, session_dir, status"

	t.Run("BornActive", func(t *testing.T) {
		p := newPrompt(t)
		for _, verb := range []string{"INSERT", "INSERT OR IGNORE", "REPLACE", "INSERT OR FAIL"} {
			p.refused(t, "a session is born active", verb+" INTO "+columns+") VALUES ('s', 'b', 'review', 'complete', 'd', 'closed')")
		}
		for _, status := range []string{"'open'", "x'616374697665'", "1"} {
			p.refused(t, "", "INSERT INTO "+columns+") VALUES ('s', 'b', 'review', 'complete', 'd', "+status+")")
		}
		p.refused(t, "NOT NULL", "INSERT INTO "+columns+") VALUES ('s', 'b', 'review', 'complete', 'd', NULL)")
		p.do(t, "REPLACE INTO "+columns+") VALUES ('s', 'b', 'review', 'complete', 'd', NULL)") // takes the default
		p.refused(t, "cannot close session", "INSERT INTO "+columns+") VALUES ('s', 'b', 'review', 'complete', 'd', 'active') ON CONFLICT (id) DO UPDATE SET status = 'closed'")
		p.want(t, "SELECT id, status FROM sessions", "s|active")
	})

	t.Run("Identity", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		p.session(t, "other", "map")
		p.do(t, "INSERT INTO "+columns+") VALUES (NULL, 'b', 'review', 'context', 'd', 'active')")
		for _, change := range []string{
			"id = 'x'", "id = NULL", "id = x'73'", "id = 'other'", "workflow_type = 'map'",
			"branch = 'c', id = 'x'", "workflow_type = 'map', id = 's'",
		} {
			for _, verb := range []string{"UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE", "UPDATE OR FAIL"} {
				p.refused(t, "the id and workflow_type of a session never change", verb+" sessions SET "+change+" WHERE id = 's'")
			}
		}
		p.refused(t, "never change", "UPDATE sessions SET id = 'named' WHERE id IS NULL")
		p.do(t, "UPDATE sessions SET id = id, workflow_type = workflow_type, branch = 'c'")
	})

	t.Run("Rowid", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "one", "review")
		p.session(t, "two", "review")
		for _, name := range []string{"rowid", "oid", "_rowid_"} {
			for _, verb := range []string{"UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"} {
				p.refused(t, "a session keeps its row", verb+" sessions SET "+name+" = 2 WHERE id = 'one'")
				p.refused(t, "a session keeps its row", verb+" sessions SET branch = 'x', "+name+" = 77 WHERE id = 'one'")
			}
			for _, id := range []string{"new", "one"} {
				p.refused(t, "never replaced", "REPLACE INTO "+columns+", "+name+") VALUES ('"+id+"', 'b', 'review', 'context', 'd', 'active', 2)")
			}
			p.refused(t, "the row of a session is never numbered -1", "INSERT INTO "+columns+", "+name+") VALUES ('low', 'b', 'review', 'context', 'd', 'active', -1)")
		}
		for _, row := range []string{"0", "-2", "'3'"} {
			p.do(t, "INSERT INTO "+columns+", rowid) VALUES ('at' || "+row+", 'b', 'review', 'context', 'd', 'active', "+row+")")
			p.refused(t, "never replaced", "REPLACE INTO "+columns+", rowid) VALUES ('x', 'b', 'review', 'context', 'd', 'active', "+row+")")
		}
		p.do(t, "UPDATE sessions SET rowid = rowid")
		p.session(t, "four", "review")
	})

	t.Run("OldRowMinusOne", func(t *testing.T) {
		// -1 is also what NEW.rowid says when none is given.
		p := promptAt(t, SharedLatest)
		p.do(t, "INSERT INTO "+columns+", rowid) VALUES ('low', 'b', 'review', 'context', 'd', 'active', -1)")
		p.event(t, "low", "session_created", "context", 1, 1, "NULL")
		applyOwnSteps(t, p)
		p.session(t, "s", "review")
		p.refused(t, "", "REPLACE INTO "+columns+", rowid) VALUES ('x', 'b', 'review', 'context', 'd', 'active', -1)")
	})

	t.Run("Numbers", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		const message = "rounds and runs are whole numbers from 1"
		for _, column := range []string{"current_round", "current_map_run"} {
			for _, value := range []string{"0", "-1", "1.5", "'x'", "'1x'", "''", "x'31'", "1e300"} {
				p.refused(t, message, "UPDATE sessions SET "+column+" = "+value)
				p.refused(t, message, "UPDATE OR REPLACE sessions SET branch = 'c', "+column+" = "+value)
				p.refused(t, message, "UPDATE OR IGNORE sessions SET "+column+" = "+value)
				p.refused(t, message, "INSERT INTO "+columns+", "+column+") VALUES ('n', 'b', 'review', 'context', 'd', 'active', "+value+")")
				p.refused(t, message, "INSERT INTO "+columns+") VALUES ('s', 'b', 'review', 'context', 'd', 'active') ON CONFLICT (id) DO UPDATE SET "+column+" = "+value)
			}
			p.refused(t, "NOT NULL", "UPDATE sessions SET "+column+" = NULL")
			for _, value := range []string{"2", "'3'", "4.0", "'5e0'"} {
				p.do(t, "UPDATE sessions SET "+column+" = "+value)
			}
			p.want(t, "SELECT "+column+", typeof("+column+") FROM sessions", "5|integer")
			p.do(t, "UPDATE OR REPLACE sessions SET "+column+" = NULL") // takes the default
			p.want(t, "SELECT "+column+" FROM sessions", "1")
		}
	})

	t.Run("OldNumbers", func(t *testing.T) {
		// Text sorts above every number: it must not outrank the log.
		p := promptAt(t, SharedLatest)
		p.do(t, "INSERT INTO "+columns+", current_round, current_map_run) VALUES ('s', 'b', 'review', 'context', 'd', 'active', 'many', 1), ('m', 'b', 'map', 'map-context', 'd', 'active', 1, x'39')")
		p.event(t, "s", "session_created", "context", 1, 1, "NULL")
		p.event(t, "s", "round_started", "context", 1, 2, "NULL")
		applyOwnSteps(t, p)
		p.want(t, "SELECT current_round, current_map_run FROM session_completeness ORDER BY session_id", "1|1", "2|1")
		p.do(t, "UPDATE sessions SET current_round = 2 WHERE id = 's'")
	})

	t.Run("NeverDeleted", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		p.do(t, "INSERT INTO "+columns+") VALUES ('bare', 'b', 'review', 'context', 'd', 'active')")
		p.refused(t, "a session that has events is never deleted", "DELETE FROM sessions WHERE id = 's'")
		p.refused(t, "a session that has events is never deleted", "DELETE FROM sessions")
		p.do(t, "DELETE FROM sessions WHERE id = 'bare'")
		p.want(t, "SELECT id FROM sessions", "s")
	})

	t.Run("NeverReplaced", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		row := "INTO " + columns + ") VALUES ('s', 'b', 'review', 'complete', 'elsewhere', 'active')"
		p.refused(t, "a session that has events is never replaced", "REPLACE "+row)
		p.refused(t, "a session that has events is never replaced", "INSERT OR REPLACE INTO "+columns+") VALUES ('s', 'b', 'map', 'map-context', 'd', 'active')")
		p.refused(t, "a session that has events is never replaced", "REPLACE INTO sessions SELECT * FROM sessions")
		p.refused(t, "UNIQUE", "INSERT "+row)
		p.ignored(t, "INSERT OR IGNORE "+row)
		p.ignored(t, "INSERT "+row+" ON CONFLICT DO NOTHING")
		p.do(t, "PRAGMA recursive_triggers = ON")
		p.refused(t, "a session that has events is never", "REPLACE "+row)
		// Events of nobody do not become somebody's.
		p.event(t, "ghost", "round_completed", "synthesis", 7, 1, "NULL")
		p.refused(t, "never replaced", "INSERT INTO "+columns+") VALUES ('ghost', 'b', 'review', 'context', 'd', 'active')")
	})

	t.Run("ClosedStands", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		p.event(t, "s", "session_aborted", "context", 1, 1, "NULL")
		p.do(t, "UPDATE sessions SET status = 'closed' WHERE id = 's'")
		const message = "a closed session moves only to complete, or when it is re-opened"
		for _, change := range []string{
			"current_phase = 'context2'", "current_phase = 'synthesis', phase_number = 7",
			"current_phase = 'reviews', status = 'closed'", "current_round = 2, current_phase = 'synthesis'",
		} {
			p.refused(t, message, "UPDATE sessions SET "+change)
			p.refused(t, message, "UPDATE OR REPLACE sessions SET "+change)
			p.refused(t, message, "UPDATE OR IGNORE sessions SET "+change)
		}
		p.refused(t, message, "UPDATE OR IGNORE sessions SET current_phase = NULL")
		p.do(t, "UPDATE sessions SET current_phase = 'context'", "UPDATE sessions SET current_phase = 'complete', phase_number = 8",
			"UPDATE sessions SET status = 'active', current_phase = 'context', phase_number = 1")
	})
}

// TestCloseGuard holds the way from active to closed to its proof.
func TestCloseGuard(t *testing.T) {
	const message = "cannot close session without a completed round/run or an explicit reason event"
	closings := []string{
		"UPDATE sessions SET status = 'closed' WHERE id = 's'",
		"UPDATE sessions SET status = 'closed', current_phase = 'complete', phase_number = 8 WHERE id = 's'",
		"UPDATE sessions SET current_round = 1, current_map_run = 1, status = 'closed' WHERE id = 's'",
		"UPDATE OR REPLACE sessions SET status = 'closed', current_round = NULL, current_map_run = NULL WHERE id = 's'",
		"UPDATE OR IGNORE sessions SET status = 'closed' WHERE id = 's'",
		"UPDATE OR FAIL sessions SET status = 'closed' WHERE id = 's'",
		"UPDATE sessions SET (status, current_round) = ('closed', 1) WHERE id = 's'",
		"UPDATE sessions SET status = n.status FROM (SELECT 'closed' AS status) AS n WHERE id = 's'",
		"INSERT INTO sessions (id, branch, workflow_type, session_dir) SELECT id, branch, workflow_type, session_dir FROM sessions WHERE id = 's' ON CONFLICT (id) DO UPDATE SET status = 'closed', current_round = 1, current_map_run = 1",
	}
	refuse := func(t *testing.T, p prompt) {
		t.Helper()
		for _, closing := range closings {
			p.refused(t, message, closing)
		}
	}

	t.Run("NothingDone", func(t *testing.T) {
		for _, workflow := range []string{"review", "map"} {
			p := newPrompt(t)
			p.session(t, "s", workflow)
			refuse(t, p)
			p.refused(t, "", "UPDATE sessions SET status = 'closed', workflow_type = 'map', id = 'x'")
		}
	})
	t.Run("EventOfOther", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		p.session(t, "done", "review")
		p.completeReview(t, "done", 1)
		p.event(t, "s", "session_closed", "complete", 8, 1, "NULL") // is no reason
		p.do(t, "UPDATE sessions SET current_phase = 'synthesis' WHERE id = 's'")
		p.event(t, "s", "map_completed", "synthesis", 5, 1, "NULL")
		for _, round := range []string{"NULL", "'one'", "1.5", "x'31'"} {
			p.do(t, "INSERT INTO orchestration_events (session_id, event_type, round) VALUES ('s', 'round_completed', "+round+")")
		}
		refuse(t, p)
		p.event(t, "s", "round_completed", "synthesis", 7, 1, "NULL")
		p.do(t, closings[1])
		if got := p.completeness(t, "s"); got != "complete" {
			t.Errorf("%q", got)
		}
	})
	t.Run("LaterRound", func(t *testing.T) {
		for _, opening := range []string{
			eventSQL("s", "round_started", "context", 1, 2, "NULL"),
			eventSQL("s", "session_resumed", "context", 1, 2, "NULL"),
			eventSQL("s", "session_created", "context", 1, 2, "NULL"),
			eventSQL("s", "session_resumed", "context", 1, 2, "'{'"),
			eventSQL("s", "session_resumed", "context", 1, 2, "'[1]'"),
			eventSQL("s", "session_resumed", "context", 1, 2, "x'7b7d'"),
			eventSQL("s", "session_resumed", "context", 1, 2, `jsonb('{"kind":"forward_resume"}')`),
			eventSQL("s", "session_resumed", "context", 1, 2, `'{"kind":"forward"}'`),
			eventSQL("s", "session_resumed", "context", 1, 2, `'{kind:"forward_resume"}'`),
			"UPDATE sessions SET current_round = 2 WHERE id = 's'",
		} {
			p := newPrompt(t)
			p.session(t, "s", "review")
			p.completeReview(t, "s", 1)
			p.do(t, opening)
			p.want(t, "SELECT current_round, has_terminal_artifact FROM session_completeness", "2|0")
			p.refused(t, message, closings[0])
			if opening[0] != 'U' { // without the log's word a row may be set back to 1
				refuse(t, p)
			}
			p.do(t, "UPDATE sessions SET current_phase = 'synthesis'")
			p.event(t, "s", "round_completed", "synthesis", 7, 2, "NULL")
			p.do(t, closings[0])
			p.want(t, "SELECT current_round, completeness_state FROM session_completeness", "2|complete")
		}
	})
	t.Run("LaterRun", func(t *testing.T) {
		for _, opening := range []string{
			eventSQL("s", "round_started", "map-context", 1, 1, `'{"map_run":2}'`),
			eventSQL("s", "phase_transition", "map-context", 1, 1, "NULL"),
		} {
			p := newPrompt(t)
			p.session(t, "s", "map")
			p.move(t, "s", "map-context", 1, 1) // before the end of run 1 it opens nothing
			p.completeMap(t, "s", 1)
			p.want(t, "SELECT current_map_run, has_terminal_artifact FROM session_completeness", "1|1")
			p.do(t, opening)
			p.want(t, "SELECT current_map_run, has_terminal_artifact FROM session_completeness", "2|0")
			refuse(t, p)
			p.completeMap(t, "s", 2)
			p.do(t, closings[2])
			p.want(t, "SELECT current_map_run, completeness_state FROM session_completeness", "2|complete")
		}
	})
	t.Run("OpensNothing", func(t *testing.T) {
		p := newPrompt(t)
		p.session(t, "s", "review")
		p.session(t, "m", "map")
		p.completeReview(t, "s", 1)
		p.completeMap(t, "m", 1)
		p.event(t, "s", "session_resumed", "reviews", 4, 9, `'{"kind":"forward_resume","round":9}'`)
		p.event(t, "s", "phase_transition", "context", 1, 9, "NULL")
		p.event(t, "s", "round_started", "context", 1, 1, `'{"map_run":9}'`)
		for _, round := range []string{"9.5", "'nine'", "x'39'", "NULL"} {
			p.do(t, "INSERT INTO orchestration_events (session_id, event_type, round) VALUES ('s', 'round_started', "+round+")")
		}
		p.event(t, "m", "round_started", "map-context", 1, 9, "NULL")
		for _, metadata := range []string{`'{"map_run":"9"}'`, `'{"map_run":9.5}'`, `'{"map_run":null}'`, `'[9]'`, `'9'`, `'{"map_run":'`, `x'7b'`, `'{"run":9}'`} {
			p.event(t, "m", "round_started", "map-context", 1, 1, metadata)
		}
		p.event(t, "m", "session_resumed", "map-context", 1, 1, `'{"map_run":9}'`)
		p.want(t, "SELECT current_round, current_map_run FROM session_completeness ORDER BY session_id", "1|1", "1|1")
	})
	t.Run("Reasons", func(t *testing.T) {
		for _, reason := range []string{"session_aborted", "session_auto_closed_stale", "session_synced", "session_legacy_import"} {
			p := newPrompt(t)
			p.session(t, "s", "review")
			p.event(t, "s", reason, "complete", 8, 1, "NULL")
			p.event(t, "s", "session_resumed", "context", 1, 1, `'{"kind":"forward_resume","round":1}'`) // a lease opens nothing
			p.event(t, "s", "phase_transition", "complete", 8, 1, "NULL")
			p.do(t, closings[0])
			if got := p.completeness(t, "s"); got != "closed_without_artifact" {
				t.Errorf("%s: %q", reason, got)
			}
			p.do(t, "UPDATE sessions SET status = 'active', current_phase = 'context'")
			for _, opening := range []string{"session_resumed", "round_started", "session_created"} {
				p.event(t, "s", opening, "context", 1, 1, "NULL")
				refuse(t, p)
				p.event(t, "s", reason, "complete", 8, 1, "NULL")
				p.do(t, closings[0], "UPDATE sessions SET status = 'active', current_phase = 'context'")
			}
		}
	})
}
