package db

import (
	"fmt"
	"testing"
)

// TestOtherWriters runs the statements that other programs issue on the same
// file, in their order and with foreign keys on as they have them.
func TestOtherWriters(t *testing.T) {
	start := func(t *testing.T) prompt {
		t.Helper()
		p := newPrompt(t)
		p.do(t, "PRAGMA foreign_keys = ON")
		return p
	}
	begin := func(t *testing.T, p prompt, id, workflow string) {
		t.Helper()
		phase := firstPhase(workflow)
		p.do(t, "BEGIN IMMEDIATE",
			fmt.Sprintf(`INSERT INTO sessions (id, branch, status, workflow_type, current_phase, phase_number, current_round, current_map_run, started_at, updated_at, session_dir)
				VALUES ('%s', 'b', 'active', '%s', '%s', 1, 1, 1, datetime('now'), datetime('now'), 'd')`, id, workflow, phase),
			eventSQL(id, "session_created", phase, 1, 1, "NULL"), "COMMIT")
	}
	update := func(id, set string) string {
		return "UPDATE sessions SET " + set + ", updated_at = datetime('now') WHERE id = '" + id + "'"
	}
	advance := func(t *testing.T, p prompt, id, phase string, number, round int) {
		t.Helper()
		p.do(t, "BEGIN IMMEDIATE", update(id, fmt.Sprintf("current_phase = '%s', phase_number = %d, current_round = %d", phase, number, round)),
			eventSQL(id, "phase_transition", phase, number, round, "NULL"), "COMMIT")
	}
	complete := func(t *testing.T, p prompt, id, kind string, synthesis, last, number, round int) {
		t.Helper()
		p.do(t, "BEGIN IMMEDIATE",
			eventSQL(id, kind, "synthesis", synthesis, number, `'{"source":"orchestrator"}'`),
			update(id, fmt.Sprintf("current_phase = 'complete', phase_number = %d", last)),
			eventSQL(id, "phase_transition", "complete", last, round, "NULL"), "COMMIT")
	}
	finish := func(t *testing.T, p prompt, id string, round int) {
		t.Helper()
		p.do(t, "BEGIN IMMEDIATE",
			update(id, "status = 'closed', current_phase = 'complete'"),
			eventSQL(id, "session_closed", "complete", 8, round, "NULL"),
			"UPDATE command_executions SET exit_code = -4, pid = NULL, finished_at = datetime('now') WHERE workflow_id = '"+id+"' AND finished_at IS NULL", "COMMIT")
	}
	state := func(t *testing.T, p prompt, id, want string) {
		t.Helper()
		p.want(t, "SELECT status, current_round, current_map_run, completeness_state FROM session_completeness WHERE session_id = '"+id+"'", want)
	}

	t.Run("ReviewOfTwoRounds", func(t *testing.T) {
		p := start(t)
		begin(t, p, "s", "review")
		for number, phase := range []string{"change-context", "analysis", "reviews", "reviews", "aggregation", "discourse", "synthesis"} {
			advance(t, p, "s", phase, number+2, 1)
		}
		complete(t, p, "s", "round_completed", 7, 8, 1, 1)
		p.do(t, "BEGIN IMMEDIATE", update("s", "current_phase = 'context', phase_number = 1, current_round = 2"),
			eventSQL("s", "phase_transition", "context", 1, 2, "NULL"), eventSQL("s", "round_started", "context", 1, 2, "NULL"), "COMMIT")
		state(t, p, "s", "active|2|1|open_no_artifact")
		advance(t, p, "s", "synthesis", 7, 2)
		complete(t, p, "s", "round_completed", 7, 8, 2, 2)
		p.do(t, "INSERT INTO command_executions (command, workflow_id) VALUES ('ocr review', 's')")
		finish(t, p, "s", 2)
		state(t, p, "s", "closed|2|1|complete")
	})

	t.Run("Reopen", func(t *testing.T) {
		p := start(t)
		begin(t, p, "s", "review")
		advance(t, p, "s", "synthesis", 7, 1)
		complete(t, p, "s", "round_completed", 7, 8, 1, 1)
		finish(t, p, "s", 1)
		// The row first and the event after it, then the other way round.
		p.do(t, "BEGIN IMMEDIATE", update("s", "status = 'active', current_phase = 'context', phase_number = 1, current_round = 2"),
			eventSQL("s", "round_started", "context", 1, 2, "NULL"), "COMMIT")
		state(t, p, "s", "active|2|1|open_no_artifact")
		advance(t, p, "s", "synthesis", 7, 2)
		complete(t, p, "s", "round_completed", 7, 8, 2, 2)
		finish(t, p, "s", 2)
		p.do(t, "BEGIN IMMEDIATE", eventSQL("s", "round_started", "context", 1, 3, "NULL"),
			update("s", "status = 'active'"), update("s", "current_phase = 'context', phase_number = 1, current_round = 3"), "COMMIT")
		state(t, p, "s", "active|3|1|open_no_artifact")
	})

	t.Run("AbortAndReopen", func(t *testing.T) {
		p := start(t)
		begin(t, p, "s", "review")
		advance(t, p, "s", "reviews", 4, 1)
		p.do(t, "BEGIN IMMEDIATE", eventSQL("s", "session_aborted", "reviews", 4, 1, "NULL"),
			update("s", "status = 'closed', current_phase = 'complete'"), eventSQL("s", "session_closed", "complete", 4, 1, "NULL"), "COMMIT")
		state(t, p, "s", "closed|1|1|closed_without_artifact")
		p.do(t, "BEGIN IMMEDIATE", update("s", "status = 'active', current_phase = 'context', phase_number = 1"),
			eventSQL("s", "session_resumed", "context", 1, 1, "NULL"), "COMMIT")
		p.refused(t, "cannot close session", update("s", "status = 'closed', current_phase = 'complete'"))
		advance(t, p, "s", "synthesis", 7, 1)
		complete(t, p, "s", "round_completed", 7, 8, 1, 1)
		finish(t, p, "s", 1)
		state(t, p, "s", "closed|1|1|complete")
	})

	t.Run("Stale", func(t *testing.T) {
		p := start(t)
		for i, order := range []string{"status = 'closed', current_phase = 'complete'", "current_phase = 'complete', status = 'closed', phase_number = 8"} {
			id := fmt.Sprint("s", i)
			begin(t, p, id, "review")
			p.do(t, "BEGIN IMMEDIATE",
				"INSERT INTO orchestration_events (session_id, event_type, phase, metadata) VALUES ('"+id+`', 'session_auto_closed_stale', 'complete', '{"reason":"stale","threshold_seconds":604800}')`,
				update(id, order), "COMMIT")
			state(t, p, id, "closed|1|1|closed_without_artifact")
		}
	})

	t.Run("Sync", func(t *testing.T) {
		p := start(t)
		p.do(t, "BEGIN IMMEDIATE",
			`INSERT INTO sessions (id, branch, status, workflow_type, current_phase, phase_number, current_round, current_map_run, session_dir)
				VALUES ('old', 'b', 'active', 'review', 'complete', 8, 3, 1, 'd')`,
			`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, metadata) VALUES ('old', 'session_synced', 'complete', 8, '{"source":"filesystem_backfill","round":3}')`,
			"UPDATE sessions SET status = 'closed' WHERE id = 'old'", "COMMIT")
		state(t, p, "old", "closed|3|1|closed_without_artifact")
		// The same again, as programs do that do not look first.
		p.ignored(t, `INSERT OR IGNORE INTO sessions (id, branch, status, workflow_type, current_phase, phase_number, current_round, current_map_run, session_dir)
			VALUES ('old', 'b', 'active', 'review', 'context', 1, 1, 1, 'd')`)
		p.do(t, `INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('old', 'b', 'review', 'd')
			ON CONFLICT (id) DO UPDATE SET current_round = MAX(current_round, 4), updated_at = datetime('now')`)
		state(t, p, "old", "closed|4|1|closed_without_artifact")
		// Counting what is on the disk may set the number back.
		begin(t, p, "live", "review")
		p.do(t, update("live", "current_round = 2"), eventSQL("live", "round_started", "context", 1, 2, "NULL"), update("live", "current_round = 1"))
		state(t, p, "live", "active|2|1|open_no_artifact")
	})

	t.Run("Reconcile", func(t *testing.T) {
		p := promptAt(t, SharedLatest)
		p.do(t, "INSERT INTO sessions (id, branch, status, workflow_type, current_phase, session_dir) VALUES ('proved', 'b', 'closed', 'review', 'complete', 'd'), ('bare', 'b', 'closed', 'map', 'complete', 'd')")
		applyOwnSteps(t, p)
		p.event(t, "proved", "round_completed", "synthesis", 7, 1, `'{"source":"reconciled","synthesized_from":"final.md"}'`)
		p.do(t, `INSERT INTO orchestration_events (session_id, event_type, phase, metadata) VALUES ('bare', 'session_legacy_import', 'complete', '{"source":"reconciled"}')`)
		state(t, p, "proved", "closed|1|1|complete")
		state(t, p, "bare", "closed|1|1|closed_without_artifact")
	})

	t.Run("Lease", func(t *testing.T) {
		p := start(t)
		begin(t, p, "s", "review")
		advance(t, p, "s", "reviews", 4, 1)
		p.do(t, `INSERT INTO orchestration_events (session_id, event_type, metadata) VALUES ('s', 'session_resumed', '{"kind":"forward_resume","round":1}')`)
		advance(t, p, "s", "aggregation", 5, 1)
		p.want(t, "SELECT * FROM session_drift")
	})

	t.Run("MapOfTwoRuns", func(t *testing.T) {
		p := start(t)
		begin(t, p, "m", "map")
		advance(t, p, "m", "synthesis", 5, 1)
		complete(t, p, "m", "map_completed", 5, 6, 1, 1)
		p.do(t, "BEGIN IMMEDIATE", update("m", "current_phase = 'map-context', phase_number = 1, current_map_run = 2"),
			eventSQL("m", "phase_transition", "map-context", 1, 1, "NULL"), "COMMIT")
		state(t, p, "m", "active|1|2|open_no_artifact")
		p.refused(t, "cannot close session", update("m", "status = 'closed', current_map_run = 1"))
		advance(t, p, "m", "synthesis", 5, 1)
		complete(t, p, "m", "map_completed", 5, 6, 2, 1)
		finish(t, p, "m", 1)
		state(t, p, "m", "closed|1|2|complete")
		// Re-opened as another program does it: the run stays and is complete.
		p.do(t, "BEGIN IMMEDIATE", update("m", "status = 'active', current_phase = 'map-context', phase_number = 1"),
			eventSQL("m", "session_resumed", "map-context", 1, 1, "NULL"), "COMMIT")
		state(t, p, "m", "active|1|2|open_no_artifact")
	})

	t.Run("Artifacts", func(t *testing.T) {
		p := start(t)
		begin(t, p, "s", "review")
		p.do(t, "INSERT OR REPLACE INTO review_rounds (session_id, round_number, verdict) VALUES ('s', 1, 'APPROVE')",
			"INSERT OR REPLACE INTO review_rounds (session_id, round_number, verdict) VALUES ('s', 1, 'REQUEST CHANGES')",
			`INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('s', 'context', 'context.md', 'one')
				ON CONFLICT (session_id, artifact_type, IFNULL(round_number, -1), file_path) DO UPDATE SET content = excluded.content`,
			`INSERT OR REPLACE INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('s', 'context', 'context.md', 'two')`,
			`INSERT OR IGNORE INTO command_executions (uid, command) VALUES ('u', 'x'), ('u', 'y')`)
		p.want(t, "SELECT (SELECT group_concat(verdict) FROM review_rounds), (SELECT group_concat(content) FROM markdown_artifacts), (SELECT COUNT(*) FROM command_executions)", "REQUEST CHANGES|two|1")
	})
}
