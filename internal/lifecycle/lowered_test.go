package lifecycle_test

import (
	"testing"

	"ocr/internal/lifecycle"
)

// TestLoweredNumber: other programs lower a row's round or run to what they
// find on disk. Each verb that changes the row writes the current one back.
func TestLoweredNumber(t *testing.T) {
	t.Parallel()
	for _, workflow := range []string{"review", "map"} {
		column, payload, second := "current_round", approve, "change-context"
		if workflow == "map" {
			column, payload, second = "current_map_run", aMap, "topology"
		}
		secondRound := func(d *desk) {
			d.completed("s", workflow)
			_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: workflow})
			must(t, err)
		}
		complete := func(d *desk) error {
			if workflow == "map" {
				_, err := d.completeMap("s", payload)
				return err
			}
			_, err := d.completeRound("s", payload)
			return err
		}
		for name, c := range map[string]struct {
			before func(d *desk)
			verb   func(d *desk) error
			want   string
		}{
			"Advance":  {nil, func(d *desk) error { _, err := d.advance("s", second); return err }, "2"},
			"Complete": {func(d *desk) { d.walk("s", "synthesis") }, complete, "2"},
			"Finish":   {func(d *desk) { d.walk("s", "synthesis"); must(t, complete(d)) }, func(d *desk) error { _, err := d.finish("s", false); return err }, "2"},
			"Abort":    {nil, func(d *desk) error { _, err := d.finish("s", true); return err }, "2"},
			"Reopen": {func(d *desk) {
				d.walk("s", "synthesis")
				must(t, complete(d))
				_, err := d.finish("s", false)
				must(t, err)
			}, func(d *desk) error {
				_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: workflow})
				return err
			}, "3"},
		} {
			t.Run(workflow+name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				secondRound(d)
				if c.before != nil {
					c.before(d)
				}
				d.sql("UPDATE sessions SET " + column + " = 1 WHERE id = 's'")
				if got := d.rows("SELECT field FROM session_drift"); got != column+"\n" {
					t.Fatalf("drift %q, want %s", got, column)
				}
				must(t, c.verb(d))
				if got := d.rows("SELECT " + column + " FROM sessions"); got != c.want+"\n" {
					t.Errorf("the row says %s, want %s", got, c.want)
				}
				if got := d.rows("SELECT * FROM session_drift"); got != "" {
					t.Errorf("drift %s", got)
				}
			})
		}
	}
}
