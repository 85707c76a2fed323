package db

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// rewriteSchema changes the text of an object as somebody does who edits the
// schema table, and makes every connection read it anew.
func rewriteSchema(t *testing.T, path, name, old, replacement string) {
	t.Helper()
	if number(t, path, "SELECT count(*) FROM sqlite_schema WHERE name = '"+name+"' AND instr(sql, '"+strings.ReplaceAll(old, "'", "''")+"')") != 1 {
		t.Fatalf("%s does not say %q", name, old)
	}
	raw(t, path, "PRAGMA writable_schema = ON",
		"UPDATE sqlite_schema SET sql = replace(sql, '"+strings.ReplaceAll(old, "'", "''")+"', '"+strings.ReplaceAll(replacement, "'", "''")+"') WHERE name = '"+name+"'",
		"PRAGMA writable_schema = RESET")
}

func driftOf(t *testing.T, path string) (list []string) {
	t.Helper()
	must(t, Inspect(t.Context(), path, func(ctx context.Context, r *Reader) error {
		found, _, err := r.CompareSchema(ctx, Latest())
		list = nil
		for _, d := range found {
			list = append(list, d.Kind+" "+d.Name+" "+d.Fault)
		}
		return err
	}))
	return list
}

// TestCompareSchema: what changes the meaning of an object is a difference,
// and what does not is none.
func TestCompareSchema(t *testing.T) {
	for _, c := range []struct {
		name, object, old, replacement string
		// want is the one difference, "" for none.
		want string
	}{
		{"RaiseAsText", "trg_sessions_close_guard", "SELECT RAISE(ABORT, 'cannot close session without a completed round/run or an explicit reason event')",
			`SELECT "RAISE(ABORT, 'cannot close session without a completed round/run or an explicit reason event')"`, "trigger trg_sessions_close_guard changed"},
		{"RaiseAsColumnText", "trg_events_known_type", "RAISE(ABORT, 'unknown orchestration_events.event_type')", "\"RAISE ( ABORT , 'unknown orchestration_events.event_type' )\"", "trigger trg_events_known_type changed"},
		{"ColumnAsText", "trg_events_known_type", "NEW.event_type NOT IN", "'NEW.event_type' NOT IN", "trigger trg_events_known_type changed"},
		{"Backticks", "open_findings", "FROM review_rounds AS r", "FROM `review_rounds` AS r", "view open_findings changed"},
		{"CaseOfText", "trg_events_known_type", "'session_created'", "'Session_created'", "trigger trg_events_known_type changed"},
		{"HeaderWordsInText", "trg_events_known_type", "'unknown orchestration_events.event_type'", "'unknown if not exists orchestration_events.event_type'", "trigger trg_events_known_type changed"},
		{"Collate", "sessions", "status TEXT NOT NULL", "status TEXT COLLATE NOCASE NOT NULL", "column sessions.status changed"},
		{"OnConflict", "sessions", "branch TEXT NOT NULL", "branch TEXT NOT NULL ON CONFLICT IGNORE", "column sessions.branch changed"},
		{"PrimaryOnConflict", "user_notes", "PRIMARY KEY AUTOINCREMENT", "PRIMARY KEY ON CONFLICT REPLACE AUTOINCREMENT", "column user_notes.id changed"},
		{"UniqueOnConflict", "review_rounds", "UNIQUE (session_id, round_number)", "UNIQUE (session_id, round_number) ON CONFLICT REPLACE", "column review_rounds.TABLE OPTIONS changed"},
		{"UniqueCollate", "map_files", "UNIQUE (section_id, file_path)", "UNIQUE (section_id, file_path COLLATE NOCASE)", "column map_files.UNIQUE (section_id, file_path) changed"},
		{"Generated", "user_notes", "content TEXT NOT NULL", "content TEXT AS ('x') NOT NULL", "column user_notes.content changed"},
		{"Deferred", "review_rounds", "ON DELETE CASCADE", "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED", "column review_rounds.session_id changed"},
		{"Layout", "trg_events_known_type", "NEW.event_type NOT IN (", "new . EVENT_TYPE /* as ever */ not\n\tin(", ""},
		{"AbortIsTheDefault", "sessions", "branch TEXT NOT NULL", "branch TEXT NOT NULL ON CONFLICT ABORT", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := fresh(t)
			rewriteSchema(t, path, c.object, c.old, c.replacement)
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			if got := driftOf(t, path); !slices.Equal(got, want) {
				t.Errorf("differences %q, want %q", got, want)
			}
		})
	}
	t.Run("Options", func(t *testing.T) {
		path := fresh(t)
		raw(t, path, "PRAGMA foreign_keys = OFF", "DROP TABLE user_finding_progress",
			`CREATE TABLE user_finding_progress (
    id INTEGER PRIMARY KEY AUTOINCREMENT, finding_id INTEGER NOT NULL REFERENCES review_findings(id) ON DELETE CASCADE,
    status TEXT NOT NULL DEFAULT 'unread' CHECK (status IN ('unread', 'read', 'acknowledged', 'fixed', 'wont_fix')),
    updated_at TEXT NOT NULL DEFAULT (datetime('now')), UNIQUE (finding_id)) STRICT`)
		if got := driftOf(t, path); !slices.Contains(got, "column user_finding_progress.TABLE OPTIONS changed") {
			t.Errorf("differences %q", got)
		}
	})
	t.Run("RenamedTable", func(t *testing.T) {
		// Renaming writes the name of a table in quotes.
		path := fresh(t)
		rewriteSchema(t, path, "idx_events_type", "ON orchestration_events", `ON "orchestration_events"`)
		if got := driftOf(t, path); len(got) > 0 {
			t.Errorf("differences %q", got)
		}
	})
}
