package care_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"ocr/db"
	"ocr/internal/care"
)

// derived are the tables that Prune may touch without being told more.
var derived = []string{
	"markdown_artifacts", "review_rounds", "reviewer_outputs", "review_findings", "map_runs", "map_sections", "map_files",
}

// session records a session of two reviewers with two findings each, and a map of two
// files; closed unless status says otherwise. Its last event is of that time.
func (d *desk) session(id, status, at string) {
	d.Helper()
	for _, statement := range []string{
		`INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('{id}', 'b', 'review', 'x')`,
		`INSERT INTO orchestration_events (session_id, event_type, phase, round, created_at)
		 VALUES ('{id}', 'session_created', 'context', 1, '2020-01-01 00:00:00'), ('{id}', 'session_aborted', 'context', 1, '{at}')`,
		`UPDATE sessions SET status = '{status}', current_phase = 'complete' WHERE id = '{id}' AND '{status}' = 'closed'`,
		`INSERT INTO command_executions (command, workflow_id, finished_at) VALUES ('ocr review', '{id}', '{at}')`,
		`INSERT INTO review_rounds (session_id, round_number) VALUES ('{id}', 1), ('{id}', 2)`,
		`INSERT INTO reviewer_outputs (round_id, reviewer_type, file_path)
		 SELECT r.id, 'quality', 'q.md' FROM review_rounds AS r WHERE r.session_id = '{id}'`,
		`INSERT INTO review_findings (reviewer_output_id, title, severity)
		 SELECT o.id, 'a finding with a title', v.column1
		 FROM reviewer_outputs AS o INNER JOIN review_rounds AS r ON r.id = o.round_id, (VALUES ('low'), ('high')) AS v
		 WHERE r.session_id = '{id}'`,
		`INSERT INTO map_runs (session_id, run_number) VALUES ('{id}', 1)`,
		`INSERT INTO map_sections (map_run_id, section_number, title)
		 SELECT m.id, v.column1, 'part' FROM map_runs AS m, (VALUES (1), (2)) AS v WHERE m.session_id = '{id}'`,
		`INSERT INTO map_files (section_id, file_path)
		 SELECT s.id, 'main.go' FROM map_sections AS s INNER JOIN map_runs AS m ON m.id = s.map_run_id WHERE m.session_id = '{id}'`,
		`INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('{id}', 'context', 'context.md', 'text')`,
	} {
		d.run(strings.NewReplacer("{id}", id, "{status}", status, "{at}", at).Replace(statement))
	}
}

// only is the first row of a table that belongs to the session.
func (d *desk) only(table, session string) string {
	joins := map[string]string{
		"review_rounds":    "SELECT min(id) FROM review_rounds WHERE session_id = '{id}'",
		"reviewer_outputs": "SELECT min(o.id) FROM reviewer_outputs AS o INNER JOIN review_rounds AS r ON r.id = o.round_id WHERE r.session_id = '{id}'",
		"review_findings": `SELECT min(f.id) FROM review_findings AS f INNER JOIN reviewer_outputs AS o ON o.id = f.reviewer_output_id
			INNER JOIN review_rounds AS r ON r.id = o.round_id WHERE r.session_id = '{id}'`,
		"map_runs":     "SELECT min(id) FROM map_runs WHERE session_id = '{id}'",
		"map_sections": "SELECT min(s.id) FROM map_sections AS s INNER JOIN map_runs AS r ON r.id = s.map_run_id WHERE r.session_id = '{id}'",
		"map_files": `SELECT min(f.id) FROM map_files AS f INNER JOIN map_sections AS s ON s.id = f.section_id
			INNER JOIN map_runs AS r ON r.id = s.map_run_id WHERE r.session_id = '{id}'`,
	}
	return d.text(strings.ReplaceAll(joins[table], "{id}", session))
}

func TestPrune(t *testing.T) {
	d := newDesk(t)
	d.session("old", "closed", "2020-01-02 00:00:00")
	d.session("open", "active", "2020-01-02 00:00:00")
	d.session("new", "closed", "2999-01-01 00:00:00")
	before := d.counts()
	opt := care.PruneOptions{OlderThanDays: ptr(int64(30))}

	t.Run("DryRun", func(t *testing.T) {
		files := d.files()
		opt := opt
		opt.DryRun = true
		done, err := care.Prune(t.Context(), d.Caller, opt)
		must(t, err)
		if d.files() != files {
			t.Error("a dry run changed something")
		}
		if fmt.Sprint(done.Sessions) != "[old]" || len(done.Removed) != len(derived) || len(done.Kept) != 0 || done.Snapshot != "" {
			t.Errorf("%+v", done)
		}
	})
	t.Run("OK", func(t *testing.T) {
		done, err := care.Prune(t.Context(), d.Caller, opt)
		must(t, err)
		want := maps.Clone(before)
		// One of the three sessions.
		for _, table := range derived {
			var n int
			_, _ = fmt.Sscan(before[table], &n)
			want[table] = fmt.Sprint(n / 3 * 2)
		}
		if after := d.counts(); !maps.Equal(after, want) {
			t.Errorf("rows\n%v, want\n%v", after, want)
		}
		for _, count := range done.Removed {
			var was, is int64
			_, _ = fmt.Sscan(before[count.Table]+" "+d.counts()[count.Table], &was, &is)
			if was-is != count.Rows {
				t.Errorf("%s: reported %d, removed %d", count.Table, count.Rows, was-is)
			}
		}
		if !strings.Contains(done.Snapshot, ".bak.prune.") {
			t.Errorf("snapshot %q", done.Snapshot)
		}
		must(t, db.CheckCopy(t.Context(), done.Snapshot))
		if faults := d.text("SELECT count(*) FROM pragma_foreign_key_check"); faults != "0" {
			t.Errorf("%s rows point nowhere", faults)
		}
	})
	t.Run("Twice", func(t *testing.T) {
		files := d.files()
		done, err := care.Prune(t.Context(), d.Caller, opt)
		must(t, err)
		if d.files() != files || len(done.Removed) != 0 || done.Snapshot != "" {
			t.Errorf("the second run did something: %+v", done)
		}
	})
	t.Run("NoSelector", func(t *testing.T) {
		_, err := care.Prune(t.Context(), d.Caller, care.PruneOptions{})
		d.wantKind(err, care.KindNoSelector)
	})
}

// TestPrune_UserData writes on one thing at a time: it and all above it stay,
// and with them exactly what was written.
func TestPrune_UserData(t *testing.T) {
	cases := map[string]struct {
		table, write string
		stays        []string
	}{
		"FindingTriage":  {"review_findings", "INSERT INTO user_finding_progress (finding_id) VALUES ({id})", []string{"review_findings", "reviewer_outputs", "review_rounds"}},
		"FindingNote":    {"review_findings", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('finding', '{id}', 'x')", []string{"review_findings", "reviewer_outputs", "review_rounds"}},
		"RoundTriage":    {"review_rounds", "INSERT INTO user_round_progress (round_id) VALUES ({id})", []string{"review_rounds"}},
		"RoundNote":      {"review_rounds", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('round', '{id}', 'x')", []string{"review_rounds"}},
		"RoundChat":      {"review_rounds", chat("review_round"), []string{"review_rounds"}},
		"FileTick":       {"map_files", "INSERT INTO user_file_progress (map_file_id) VALUES ({id})", []string{"map_files", "map_sections", "map_runs"}},
		"FileNote":       {"map_files", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('file', '{id}', 'x')", []string{"map_files", "map_sections", "map_runs"}},
		"SectionNote":    {"map_sections", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('section', '{id}', 'x')", []string{"map_sections", "map_runs"}},
		"RunNote":        {"map_runs", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('run', '{id}', 'x')", []string{"map_runs"}},
		"RunChat":        {"map_runs", chat("map_run"), []string{"map_runs"}},
		"SessionNote":    {"review_rounds", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', 'x')", nil},
		"NoteOnOtherRow": {"review_findings", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('run', '99', 'x')", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.session("s", "closed", "2020-01-02 00:00:00")
			d.run(strings.ReplaceAll(c.write, "{id}", d.only(c.table, "s")))
			before := d.counts()
			opt := care.PruneOptions{KeepSessions: ptr(int64(0))}
			_, err := care.Prune(t.Context(), d.Caller, opt)
			must(t, err)
			want := maps.Clone(before)
			for _, table := range derived {
				want[table] = "0"
			}
			for _, table := range c.stays {
				want[table] = "1"
			}
			if after := d.counts(); !maps.Equal(after, want) {
				t.Errorf("rows\n%v, want\n%v", after, want)
			}
			opt.IncludeUserData = true
			_, err = care.Prune(t.Context(), d.Caller, opt)
			must(t, err)
			for _, table := range derived {
				want[table] = "0"
			}
			if c.stays != nil {
				for _, table := range []string{"user_notes", "user_finding_progress", "user_round_progress", "user_file_progress", "chat_conversations", "chat_messages"} {
					want[table] = "0"
				}
			}
			if after := d.counts(); !maps.Equal(after, want) {
				t.Errorf("with user data: rows\n%v, want\n%v", after, want)
			}
		})
	}
}

func chat(target string) string {
	return `INSERT INTO chat_conversations (id, session_id, target_type, target_id) VALUES ('c', 's', '` + target + `', {id});
		INSERT INTO chat_messages (conversation_id, role, content) VALUES ('c', 'user', 'why?'), ('c', 'assistant', 'so')`
}

// TestPrune_Sessions holds the choice to ages in every form of time.
func TestPrune_Sessions(t *testing.T) {
	d := newDesk(t)
	for id, age := range map[string]string{
		"plain-40": "datetime('now', '-40 days')",
		"iso-20":   "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-20 days')",
		"zone-10":  "strftime('%Y-%m-%dT%H:%M:%S+02:00', 'now', '-10 days')",
		"fresh-0":  "datetime('now')",
	} {
		d.session(id, "closed", d.text("SELECT "+age))
	}
	d.session("odd", "closed", "yesterday")
	d.session("number", "closed", "2460000")
	cases := map[string]struct {
		older, keep *int64
		want        string
	}{
		"Older30":     {older: ptr(int64(30)), want: "[plain-40]"},
		"Older15":     {older: ptr(int64(15)), want: "[iso-20 plain-40]"},
		"Older9":      {older: ptr(int64(9)), want: "[zone-10 iso-20 plain-40]"},
		"Older0":      {older: ptr(int64(0)), want: "[fresh-0 zone-10 iso-20 plain-40]"},
		"OlderMuch":   {older: ptr(int64(1) << 62), want: "[]"},
		"Keep3":       {keep: ptr(int64(3)), want: "[zone-10 iso-20 plain-40]"},
		"Keep0":       {keep: ptr(int64(0)), want: "[fresh-0 zone-10 iso-20 plain-40]"},
		"KeepAll":     {keep: ptr(int64(99)), want: "[]"},
		"Older15Keep": {older: ptr(int64(15)), keep: ptr(int64(5)), want: "[plain-40]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			done, err := care.Prune(t.Context(), d.Caller, care.PruneOptions{OlderThanDays: c.older, KeepSessions: c.keep, DryRun: true})
			must(t, err)
			if got := fmt.Sprint(done.Sessions); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if len(done.Unreadable) != 2 {
				t.Errorf("unreadable: %v", done.Unreadable)
			}
		})
	}
}

func TestPrune_NoDatabase(t *testing.T) {
	d := newDesk(t)
	d.Project.Root = filepath.Dir(d.Project.Root)
	done, err := care.Prune(t.Context(), d.Caller, care.PruneOptions{KeepSessions: ptr(int64(0)), DryRun: true})
	if err != nil || len(done.Removed) != 0 {
		t.Errorf("%+v %v", done, err)
	}
	_, err = care.Prune(t.Context(), d.Caller, care.PruneOptions{KeepSessions: ptr(int64(0))})
	if db.KindOf(err) != db.KindNoDatabase {
		t.Error(err)
	}
}
