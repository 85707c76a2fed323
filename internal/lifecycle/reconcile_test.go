package lifecycle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ocr/internal/lifecycle"
)

// contradictions are sessions as older programs left them. want is the kind
// of repair; "" none, "unreadable" that they are left alone and named.
var contradictions = []struct {
	id, session, events, file, want string
	// from is the first schema version that can hold them.
	from int
}{
	{"closed-final", "'closed', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-01-05 09:30:00')", "rounds/round-1/final.md", "synthesize-round-completed", 1},
	{"closed-none", "'closed', 'review', 1, 1", "('%s', 'session_closed', 1, NULL, '2026-01-05 09:30:00')", "rounds/round-2/final.md", "grandfather", 1},
	{"closed-no-events", "'closed', 'map', 1, 1", "", "", "grandfather", 1},
	{"closed-done", "'closed', 'review', 2, 1", "('%s', 'round_completed', 2, NULL, '2026-01-05 09:30:00')", "", "", 1},
	{"closed-other-round", "'closed', 'review', 2, 1", "('%s', 'round_completed', 1, NULL, '2026-01-05 09:30:00')", "rounds/round-2/final.md", "synthesize-round-completed", 1},
	{"closed-log-ahead", "'closed', 'review', 1, 1", "('%s', 'round_completed', 1, NULL, 'x'), ('%[1]s', 'round_started', 2, NULL, 'x')", "rounds/round-1/final.md", "grandfather", 1},
	{"closed-text-number", "'closed', 'review', 'two', 1", "", "rounds/round-1/final.md", "synthesize-round-completed", 1},
	{"closed-aborted", "'closed', 'review', 1, 1", "('%s', 'session_aborted', 1, NULL, '2026-01-05 09:30:00')", "rounds/round-1/final.md", "", 1},
	{"closed-old-abort", "'closed', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-01-05 09:30:00'), ('%[1]s', 'session_aborted', 1, NULL, '2026-01-05 09:30:00'), ('%[1]s', 'session_resumed', 1, NULL, '2026-01-05 09:30:00')", "", "grandfather", 1},
	{"closed-new-abort", "'closed', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-01-05 09:30:00'), ('%[1]s', 'session_resumed', 1, NULL, '2026-01-05 09:30:00'), ('%[1]s', 'session_aborted', 1, NULL, '2026-01-05 09:30:00'), ('%[1]s', 'session_resumed', 1, '{\"kind\":\"forward_resume\",\"round\":1}', '2026-01-05 09:30:00')", "", "", 1},
	{"closed-synced", "'closed', 'review', 1, 1", "('%s', 'session_synced', NULL, NULL, '2026-01-05 09:30:00')", "", "", 1},
	{"closed-folder", "'closed', 'review', 1, 1", "", "rounds/round-1/final.md/x", "grandfather", 1},
	{"map-file", "'closed', 'map', 1, 2", "('%s', 'map_completed', 1, NULL, '2026-01-05 09:30:00')", "map/runs/run-2/map.md", "synthesize-map-completed", 1},
	{"map-run-opened", "'closed', 'map', 1, 1", "('%s', 'round_started', 1, '{\"map_run\":3}', '2026-01-05 09:30:00')", "map/runs/run-3/map.md", "synthesize-map-completed", 1},
	{"map-other-file", "'closed', 'map', 1, 1", "", "rounds/round-1/final.md", "grandfather", 1},
	{"stale", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-01-05 09:30:00')", "", "stale-close", 1},
	{"stale-iso", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-01-05T09:30:00.123+02:00')", "", "stale-close", 1},
	{"stale-no-events", "'active', 'map', 1, 1", "", "", "stale-close", 1},
	{"stale-complete", "'active', 'review', 1, 1", "('%s', 'round_completed', 1, NULL, '2026-01-05 09:30:00')", "", "stale-close", 1},
	{"stale-log-ahead", "'active', 'review', 1, 1", "('%s', 'round_started', 4, NULL, '2026-01-05 09:30:00')", "", "stale-close", 1},
	{"fresh", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-01-05 09:30:00'), ('%[1]s', 'phase_transition', 1, NULL, datetime('now', '-6 days'))", "", "", 1},
	{"future", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, datetime('now', '+1 year'))", "", "", 1},
	{"last-decides", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, datetime('now')), ('%[1]s', 'phase_transition', 1, NULL, '2026-01-05 09:30:00')", "", "stale-close", 1},
	{"yesterday", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, 'yesterday')", "", "unreadable", 1},
	{"no-date", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-99-99 00:00:00')", "", "unreadable", 1},
	{"busy", "'active', 'review', 1, 1", "('%s', 'session_created', 1, NULL, '2026-01-05 09:30:00')", "", "", 11},
}

// contradictoryDesk has all of them in a database of a version.
func contradictoryDesk(t *testing.T, version int) *desk {
	t.Helper()
	d := emptyDesk(t)
	steps, err := filepath.Glob("../../db/schema/*.up.sql")
	must(t, err)
	for i, step := range steps {
		if i == min(version, 14) {
			break
		}
		body, err := os.ReadFile(step)
		must(t, err)
		d.sql(string(body))
	}
	for _, c := range contradictions {
		if version < c.from {
			continue
		}
		d.sql(fmt.Sprintf(`INSERT INTO sessions (id, status, workflow_type, current_round, current_map_run, branch, current_phase, phase_number, session_dir)
			VALUES ('%s', %s, 'b', 'analysis', 'odd', '.ocr/sessions/%[1]s')`, c.id, c.session))
		if c.events != "" {
			d.sql(fmt.Sprintf("INSERT INTO orchestration_events (session_id, event_type, round, metadata, created_at) VALUES "+c.events, c.id))
		}
		if c.id == "busy" {
			d.sql("INSERT INTO command_executions (command, workflow_id) VALUES ('x', 'busy')")
		}
		if c.file != "" {
			name := filepath.Join(d.Project.Sessions(), c.id, filepath.FromSlash(c.file))
			must(t, os.MkdirAll(filepath.Dir(name), 0o755))
			must(t, os.WriteFile(name, []byte("x"), 0o644))
		}
	}
	if version > 14 {
		// Our own steps, without the repair of step 12.
		d.begin("unrelated", "review")
	}
	return d
}

func (d *desk) reconcile(dryRun bool) lifecycle.Reconciliation {
	d.t.Helper()
	done, err := lifecycle.Reconcile(d.t.Context(), d.Caller, dryRun)
	must(d.t, err)
	return done
}

// TestReconcile repairs the same sessions in the same way, whether the upgrade
// of an old database does it or the verb.
func TestReconcile(t *testing.T) {
	for _, version := range []int{1, 5, 10, 11, 12, 14, 99} {
		t.Run(fmt.Sprintf("From%d", version), func(t *testing.T) {
			d := contradictoryDesk(t, version)
			var want, unreadable []string
			for _, c := range contradictions {
				switch {
				case version < c.from:
				case c.want == "unreadable":
					unreadable = append(unreadable, c.id)
				case c.want != "":
					want = append(want, c.id+" "+c.want)
				}
			}
			slices.Sort(want)
			slices.Sort(unreadable)

			before := d.bytes()
			plan := d.reconcile(true)
			if d.bytes() != before {
				t.Error("the dry run changed the database")
			}
			var got, left []string
			for _, action := range plan.Actions {
				got = append(got, action.SessionID+" "+action.Kind)
				if action.Detail == "" {
					t.Errorf("no reason given for %s", action.SessionID)
				}
			}
			for _, session := range plan.Unreadable {
				left = append(left, session.SessionID)
			}
			if !slices.Equal(got, want) || !slices.Equal(left, unreadable) {
				t.Errorf("planned\n%s\nand left %v, want\n%s\nand left %v", strings.Join(got, "\n"), left, strings.Join(want, "\n"), unreadable)
			}

			done := d.reconcile(false)
			// The upgrade has done its part in step 12, and says so.
			if version >= 12 && len(done.Actions) != len(want) || version < 12 && len(done.Actions) != 0 {
				t.Errorf("%d actions, want %d", len(done.Actions), len(want))
			}
			if said := strings.Join(d.notices, "\n"); version < 12 && !strings.Contains(said, "reconciled with it: stale-close") {
				t.Errorf("said %q", said)
			}
			for _, c := range contradictions {
				if version >= c.from {
					d.wantRepaired(c.id, c.want)
				}
			}
			if number := d.rows("SELECT current_round FROM sessions WHERE id = 'stale-log-ahead'"); number != "4\n" {
				t.Errorf("the row's round is %s", number)
			}

			before = d.bytes()
			if again := d.reconcile(false); len(again.Actions) != 0 || len(again.Unreadable) != len(unreadable) || d.bytes() != before {
				t.Errorf("again: %v", again.Actions)
			}
		})
	}
}

// wantRepaired holds a session to what the repair leaves.
func (d *desk) wantRepaired(id, kind string) {
	d.t.Helper()
	events := map[string]string{
		"synthesize-round-completed": "round_completed|synthesis|7|{\"source\":\"reconciled\",\"synthesized_from\":\"final.md\"}\n",
		"synthesize-map-completed":   "map_completed|synthesis|5|{\"source\":\"reconciled\",\"synthesized_from\":\"map.md\"}\n",
		"grandfather":                "session_legacy_import|complete|<nil>|{\"source\":\"reconciled\"}\n",
		"stale-close":                "session_auto_closed_stale|complete|<nil>|{\"source\":\"reconciled\",\"threshold_seconds\":604800}\n",
	}
	got := d.rows("SELECT event_type, phase, phase_number, metadata FROM orchestration_events WHERE session_id = ? AND metadata LIKE '%reconciled%'", id)
	if got != events[kind] {
		d.t.Errorf("%s: event %q, want %q", id, got, events[kind])
	}
	row := d.rows("SELECT status, current_phase, phase_number FROM sessions WHERE id = ?", id)
	want := map[bool]string{true: "closed|analysis|odd\n", false: "active|analysis|odd\n"}[strings.HasPrefix(id, "closed") || strings.HasPrefix(id, "map")]
	if kind == "stale-close" {
		want = "closed|complete|odd\n"
	}
	if row != want {
		d.t.Errorf("%s: row %q, want %q", id, row, want)
	}
	if state := d.rows("SELECT completeness_state FROM session_completeness WHERE session_id = ?", id); strings.HasPrefix(kind, "synthesize") != (state == "complete\n") && id != "closed-done" && id != "stale-complete" {
		d.t.Errorf("%s: it is %s", id, state)
	}
}

// TestReconcileHidden leaves a session alone whose files cannot be looked at.
func TestReconcileHidden(t *testing.T) {
	d := emptyDesk(t)
	d.begin("s", "review")
	long := strings.Repeat("x", 300)
	d.sql("DROP TRIGGER trg_sessions_born_active; INSERT INTO sessions (id, branch, status, workflow_type, session_dir) VALUES ('hidden', 'b', 'closed', 'review', '" + long + "')")
	if done := d.reconcile(false); len(done.Actions) != 0 {
		t.Errorf("%v", done.Actions)
	}
	if said := strings.Join(d.notices, "\n"); !strings.Contains(said, "session hidden is left as it is") {
		t.Errorf("said %q", said)
	}
}

// TestOldDatabase holds every kind of verb to an old database: reading leaves
// it alone, writing upgrades it.
func TestOldDatabase(t *testing.T) {
	d := contradictoryDesk(t, 9)
	d.sql("UPDATE sessions SET phase_number = 3")
	before := d.bytes()
	status, err := lifecycle.GetStatus(t.Context(), d.Caller, "closed-final")
	must(t, err)
	if status.CompletenessState != "complete" {
		t.Errorf("it is %s, want what it is after the upgrade", status.CompletenessState)
	}
	if d.bytes() != before {
		t.Error("reading changed the database")
	}
	if len(d.notices) != 1 || !strings.Contains(d.notices[0], "ocr db migrate") {
		t.Errorf("said %q", d.notices)
	}
	_, err = d.advance("fresh", "reviews")
	must(t, err)
	if version := d.rows("SELECT count(*) FROM schema_migrations"); version != "1\n" {
		t.Errorf("%s ledgers", version)
	}
	if len(d.notices) < 3 || !strings.HasPrefix(d.notices[1], "upgraded ") {
		t.Errorf("said %q", d.notices)
	}
}
