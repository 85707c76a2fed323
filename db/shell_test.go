package db

import (
	"os/exec"
	"strings"
	"testing"
)

// TestShell opens a migrated file with the sqlite3 shell of the machine,
// reads every view and meets every trigger.
func TestShell(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3 shell on this machine: the file is not opened with another engine")
	}
	path := fresh(t)
	p, _ := promptOn(t, path)
	p.session(t, "s", "review")
	p.session(t, "m", "map")
	p.completeReview(t, "s", 1)
	p.close(t, "s")
	p.do(t, "INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('open', 'b', 'review', 'd')",
		"INSERT INTO command_executions (uid, command, last_heartbeat_at) VALUES ('u', 'x', datetime('now'))",
		"INSERT INTO orchestration_events (session_id, event_type, metadata) VALUES ('m', 'session_resumed', '{')")
	ask := func(statement string) string {
		out, _ := exec.Command(shell, path, statement).CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	version := ask("SELECT sqlite_version()")
	t.Logf("sqlite3 shell %s, engine here %s", version, SQLiteVersion())

	if got := ask("PRAGMA integrity_check; PRAGMA foreign_key_check; PRAGMA foreign_keys"); got != "ok\n0" {
		t.Fatalf("%s: %s", version, got)
	}
	views := p.rows(t, "SELECT name FROM sqlite_schema WHERE type = 'view'")
	if len(views) < 10 {
		t.Fatalf("views: %v", views)
	}
	for _, view := range views {
		columns := strings.Join(p.rows(t, "SELECT name FROM pragma_table_info('"+view+"')"), ", ")
		want := strings.ReplaceAll(strings.Join(p.rows(t, "SELECT "+columns+" FROM "+view+" ORDER BY 1, 2"), "\n"), "NULL", "")
		if got := ask("SELECT " + columns + " FROM " + view + " ORDER BY 1, 2"); got != strings.TrimSpace(want) {
			t.Errorf("%s\nshell:\n%s\nhere:\n%s", view, got, want)
		}
	}

	const row = "INTO sessions (id, branch, workflow_type, session_dir, status, current_round, rowid) VALUES "
	refusals := map[string]string{
		"trg_events_known_type":             "INSERT INTO orchestration_events (session_id, event_type) VALUES ('s', 'done')",
		"trg_events_never_changed":          "UPDATE orchestration_events SET round = 2",
		"trg_events_never_deleted":          "DELETE FROM orchestration_events",
		"trg_events_never_replaced":         "REPLACE INTO orchestration_events (id, session_id, event_type) VALUES (1, 's', 'session_aborted')",
		"trg_events_id_from_one":            "INSERT INTO orchestration_events (id, session_id, event_type) VALUES (-5, 's', 'session_aborted')",
		"trg_events_id_not_the_last":        "INSERT INTO orchestration_events (id, session_id, event_type) VALUES (9223372036854775807, 's', 'session_aborted')",
		"trg_events_only_grow":              "INSERT INTO orchestration_events (id, session_id, event_type) VALUES (5000, 's', 'session_aborted'), (4000, 's', 'session_aborted')",
		"trg_events_terminal_at_synthesis":  "INSERT INTO orchestration_events (session_id, event_type, round) VALUES ('m', 'map_completed', 1)",
		"trg_sessions_close_guard":          "UPDATE sessions SET status = 'closed' WHERE id = 'm'",
		"trg_sessions_born_active":          "INSERT " + row + "('n', 'b', 'review', 'd', 'closed', 1, 50)",
		"trg_sessions_keep_identity":        "UPDATE sessions SET workflow_type = 'map'",
		"trg_sessions_keep_rowid":           "UPDATE sessions SET rowid = 77 WHERE id = 's'",
		"trg_sessions_numbers_when_born":    "INSERT " + row + "('n', 'b', 'review', 'd', 'active', 'one', 50)",
		"trg_sessions_numbers_when_changed": "UPDATE sessions SET current_round = 0",
		"trg_sessions_with_events_stay":     "DELETE FROM sessions",
		"trg_sessions_never_replaced":       "REPLACE " + row + "('s', 'b', 'review', 'd', 'active', 1, 1)",
		"trg_sessions_rowid_not_taken":      "REPLACE " + row + "('n', 'b', 'review', 'd', 'active', 1, 1)",
		"trg_sessions_rowid_minus_one":      "INSERT " + row + "('n', 'b', 'review', 'd', 'active', 1, -1)",
		"trg_sessions_closed_stands":        "UPDATE sessions SET current_phase = 'reviews' WHERE id = 's'",
	}
	before := p.everything(t)
	for _, trigger := range p.rows(t, "SELECT name || '|' || sql FROM sqlite_schema WHERE type = 'trigger'") {
		name, text, _ := strings.Cut(trigger, "|")
		if name == "trg_events_one_terminal" { // it ignores, without a word
			if got := ask("INSERT INTO orchestration_events (session_id, event_type, round) VALUES ('s', 'round_completed', 1)"); got != "" {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		_, message, _ := strings.Cut(text, "RAISE(ABORT, '")
		message, _, _ = strings.Cut(message, "'")
		statement := refusals[name]
		if statement == "" || message == "" {
			t.Errorf("no statement here meets %s", name)
			continue
		}
		if got := ask(statement); !strings.Contains(got, message) {
			t.Errorf("%s\n%s\nsays: %s\nwant: %s", name, statement, got, message)
		}
	}
	if after := p.everything(t); strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("the refused statements changed\n%v\ninto\n%v", before, after)
	}
}
