package lifecycle_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"ocr/internal/lifecycle"
)

// atOnce makes n calls at the same moment. Every call opens a store of its
// own, as separate processes do.
func atOnce(n int, call func() error) []error {
	results := make([]error, n)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-start
			results[i] = call()
		})
	}
	close(start)
	group.Wait()
	return results
}

// TestAtOnce holds verbs to their promise when several callers make the same
// call at the same moment.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	quiet := func(t *testing.T) *desk {
		d := newDesk(t)
		d.Notice = func(string) {}
		return d
	}

	t.Run("CompleteRound", func(t *testing.T) {
		d := quiet(t)
		for round := range 8 {
			d.begin("s", "review")
			d.walk("s", "synthesis")
			for _, err := range atOnce(2+round%2*2, func() error { _, err := d.completeRound("s", changes); return err }) {
				must(t, err)
			}
			counts := d.rows(`SELECT count(*) FILTER (WHERE event_type = 'round_completed'), count(*) FILTER (WHERE phase = 'complete'),
				(SELECT count(*) FROM review_findings) FROM orchestration_events WHERE round = ?`, round+1)
			if want := fmt.Sprintf("1|1|%d\n", 2*(round+1)); counts != want {
				t.Errorf("round %d: %q, want %q", round+1, counts, want)
			}
		}
	})
	t.Run("CompleteMap", func(t *testing.T) {
		d := quiet(t)
		d.begin("s", "map")
		d.walk("s", "synthesis")
		for _, err := range atOnce(4, func() error { _, err := d.completeMap("s", aMap); return err }) {
			must(t, err)
		}
		if got := d.rows("SELECT count(*) FROM orchestration_events WHERE event_type = 'map_completed'"); got != "1\n" {
			t.Errorf("%s terminal events", got)
		}
	})
	t.Run("Abort", func(t *testing.T) {
		d := quiet(t)
		for range 5 {
			d.begin("s", "review")
			for _, err := range atOnce(4, func() error { _, err := d.finish("s", true); return err }) {
				must(t, err)
			}
		}
		if got := d.rows("SELECT count(*) FROM orchestration_events WHERE event_type = 'session_aborted'"); got != "5\n" {
			t.Errorf("%s aborts, want 5", got)
		}
	})
	t.Run("Begin", func(t *testing.T) {
		d := emptyDesk(t) // the first of them also makes the database
		d.Notice = func(string) {}
		for _, id := range []string{"s", "t", "u"} {
			won := 0
			for _, err := range atOnce(4, func() error {
				_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: id, Branch: "b", Workflow: "review"})
				return err
			}) {
				var no *lifecycle.Error
				switch {
				case err == nil:
					won++
				case !errors.As(err, &no) || no.Class != lifecycle.Invariant:
					t.Errorf("%v", err)
				}
			}
			if won != 1 || len(d.log(id)) != 1 {
				t.Errorf("%s: %d calls began it, log %v", id, won, d.log(id))
			}
		}
	})
	t.Run("Reopen", func(t *testing.T) {
		d := quiet(t)
		d.completed("s", "review")
		won := 0
		for _, err := range atOnce(4, func() error {
			_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review"})
			return err
		}) {
			if err == nil {
				won++
			}
		}
		if row := d.rows("SELECT current_round FROM sessions"); won != 1 || row != "2\n" {
			t.Errorf("%d calls opened it again, round %q", won, row)
		}
	})
}
