package lifecycle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/lifecycle"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	status := func(d *desk) lifecycle.Status {
		before := d.all()
		got, err := lifecycle.GetStatus(t.Context(), d.Caller, "s")
		must(t, err)
		if d.all() != before {
			t.Error("status changed something")
		}
		return got
	}
	kind := func(t *testing.T, d *desk, want string) {
		t.Helper()
		if got := status(d).Next; got.Kind != want || got.Text == "" {
			t.Errorf("next action %+v, want %s", got, want)
		}
	}

	t.Run("OK", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.walk("s", "aggregation")
		got := status(d)
		if got.SessionID != "s" || got.CurrentPhase != "aggregation" || got.PhaseNumber != 5 || got.CompletenessState != "open_no_artifact" ||
			got.RoundStartedAt == nil || got.MapStartedAt != nil || got.MarkedClosed || got.HasTerminalArtifact || !got.DependentsSettled {
			t.Errorf("%+v", got)
		}
	})
	t.Run("NextActions", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		kind(t, d, lifecycle.NextForwardResume)
		lease := `INSERT INTO orchestration_events (session_id, event_type, metadata) VALUES ('s', 'session_resumed', '{"kind":"forward_resume","round":1}')`
		d.sql(lease)
		if next := status(d).Next; next.Kind != lifecycle.NextForwardResume || *next.AttemptsLeft != 1 || len(next.Remaining) != 7 {
			t.Errorf("%+v", next)
		}
		d.sql(lease)
		kind(t, d, lifecycle.NextAbortOrFresh)
		d.walk("s", "synthesis")
		_, err := d.completeRound("s", approve)
		must(t, err)
		kind(t, d, lifecycle.NextFinish)
		_, err = d.finish("s", false)
		must(t, err)
		kind(t, d, lifecycle.NextNone)
		d.begin("s", "review")
		_, err = d.finish("s", true)
		must(t, err)
		kind(t, d, lifecycle.NextReopen)
	})
	t.Run("Processes", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.sql(`INSERT INTO command_executions (uid, command, workflow_id, last_heartbeat_at) VALUES ('me', 'ocr review', 's', datetime('now'))`)
		if got := status(d); got.Next.Kind != lifecycle.NextWait || len(got.Next.WaitingOn) != 1 || got.CompletenessState != "in_flight" {
			t.Errorf("%+v", got)
		}
		// The caller does not wait for itself, but it counts as somebody at work.
		d.ExecutionUID = "me"
		kind(t, d, lifecycle.NextAdvance)
		d.walk("s", "synthesis")
		if got := status(d); got.Next.Kind != lifecycle.NextCompleteRound || got.CompletenessState != "in_flight" || got.DependentsSettled {
			t.Errorf("%+v", got)
		}
		d.sql(`UPDATE command_executions SET finished_at = datetime('now'), exit_code = 0`)
		kind(t, d, lifecycle.NextForwardResume)
	})
	// Such a process counts as live for status and resume alike; how to go on
	// without it is said all the same.
	t.Run("UnreadableHeartbeat", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.process("u", "s", "'yesterday'")
		got := status(d).Next
		if got.Kind != lifecycle.NextWait || len(got.WaitingOn) != 1 || !got.WaitingOn[0].AtWork() || got.WaitingOn[0].Stalled ||
			!strings.Contains(got.Text, "is not a valid timestamp") || !strings.Contains(got.Text, "ocr session end-instance u") {
			t.Errorf("%+v", got)
		}
		d.refused(lifecycle.Invariant, lifecycle.KindStillRunning, func() error { _, err := d.resume("s"); return err })
	})
	t.Run("NoDatabase", func(t *testing.T) {
		d := emptyDesk(t)
		if _, err := lifecycle.GetStatus(t.Context(), d.Caller, "s"); db.KindOf(err) != db.KindNoDatabase {
			t.Errorf("%v", err)
		}
		if entries, err := os.ReadDir(d.Project.Data()); err != nil || len(entries) != 1 || entries[0].Name() != ".gitignore" {
			t.Errorf("%v %v", entries, err)
		}
	})
}

func TestShow(t *testing.T) {
	t.Parallel()
	t.Run("OK", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		view, err := lifecycle.Show(t.Context(), d.Caller, "s")
		must(t, err)
		if len(view.Events) != len(d.log("s")) || len(view.Timings) == 0 || view.Session.ID != "s" {
			t.Errorf("%+v", view)
		}
		rounds := view.Artifacts.Rounds
		if len(rounds) != 1 || rounds[0].RoundMeta == nil || *rounds[0].RoundMeta != filepath.Join(d.Project.Sessions(), "s", "rounds", "round-1", "round-meta.json") {
			t.Errorf("%+v", rounds)
		}
	})
	t.Run("ImpossibleFolder", func(t *testing.T) {
		d := newDesk(t)
		d.begin("s", "review")
		d.sql("UPDATE sessions SET session_dir = 'a' || char(0) || 'b' WHERE id = 's'")
		view, err := lifecycle.Show(t.Context(), d.Caller, "s")
		must(t, err)
		if view.Session.ID != "s" || view.Artifacts.Rounds == nil || view.Artifacts.MapRuns == nil || !d.noticed("cannot be one") {
			t.Errorf("%+v", view)
		}
	})
	t.Run("NoneActive", func(t *testing.T) {
		for _, d := range []*desk{emptyDesk(t), newDesk(t)} {
			if view, err := lifecycle.Show(t.Context(), d.Caller, ""); view != nil || err != nil {
				t.Errorf("%+v, %v", view, err)
			}
		}
	})
	t.Run("NoSuchSession", func(t *testing.T) {
		var no *lifecycle.Error
		if _, err := lifecycle.Show(t.Context(), newDesk(t).Caller, "nope"); !errors.As(err, &no) || no.Class != lifecycle.NotFound {
			t.Errorf("%v", err)
		}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	list := func(d *desk, status string) (ids string) {
		rows, err := lifecycle.List(t.Context(), d.Caller, status)
		must(t, err)
		for _, row := range rows {
			ids += row.ID + " "
		}
		return ids
	}
	d := newDesk(t)
	for _, id := range []string{"c", "a", "b"} {
		d.begin(id, "review")
	}
	_, err := d.finish("a", true)
	must(t, err)
	for status, want := range map[string]string{"all": "b a c ", "active": "b c ", "closed": "a "} {
		if got := list(d, status); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
	if got := list(emptyDesk(t), "all"); got != "" {
		t.Errorf("without a database: %q", got)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.begin("s", "review")
	d.begin("other", "review")
	d.walk("s", "analysis")
	rows, err := lifecycle.Events(t.Context(), d.Caller, "s", 0)
	must(t, err)
	if len(rows) != 3 || rows[2].EventType != "phase_transition" {
		t.Errorf("%+v", rows)
	}
	rest, err := lifecycle.Events(t.Context(), d.Caller, "s", rows[0].EventID)
	must(t, err)
	if len(rest) != 2 || rest[0].EventID != rows[1].EventID {
		t.Errorf("%+v", rest)
	}

	// Follow gives what is there, then what comes, each event once.
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var seen []int64
	err = lifecycle.Follow(ctx, d.Caller, "s", rows[1].EventID, func(row gen.EventTimelineRow) error {
		switch seen = append(seen, row.EventID); len(seen) {
		case 1:
			d.walk("s", "aggregation")
		case 3:
			stop()
		}
		return nil
	})
	must(t, err)
	if len(seen) != 3 || seen[0] != rows[2].EventID || seen[1] >= seen[2] {
		t.Errorf("seen %v", seen)
	}
}
