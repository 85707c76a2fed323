package lifecycle_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"ocr/db/gen"
	"ocr/internal/lifecycle"
)

// looked counts how often the facts of an event were read; see countFacts.
var looked atomic.Int64

var registerLooked = sync.OnceFunc(func() {
	sqlite.MustRegisterScalarFunction("looked", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		looked.Add(1)
		return args[0], nil
	})
})

// countFacts has the view that all timelines are made of count the rows whose
// type it was asked for.
func (d *desk) countFacts() {
	d.t.Helper()
	registerLooked()
	definition := strings.TrimSpace(d.rows("SELECT sql FROM sqlite_schema WHERE name = 'event_facts'"))
	counting := strings.Replace(definition, "e.metadata AS metadata", "looked(e.metadata) AS metadata", 1)
	if counting == definition {
		d.t.Fatal("event_facts has changed")
	}
	d.sql("DROP VIEW event_facts; " + counting)
}

// TestFollowCost: what Follow does for new events is measured by these, not by
// the log, and it does nothing for those of other sessions.
func TestFollowCost(t *testing.T) {
	for _, workflow := range []string{"review", "map"} {
		t.Run(workflow, func(t *testing.T) {
			d := newDesk(t)
			d.begin("s", workflow)
			d.begin("other", "review")
			first := map[string]string{"review": "context", "map": "map-context"}[workflow]
			const events = 3000
			d.sql(fmt.Sprintf(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round)
				SELECT 's', 'phase_transition', '%s', 1, 1 FROM (WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n)`, first, events))
			d.countFacts()
			looked.Store(0)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			seen := 0
			must(t, lifecycle.Follow(ctx, d.Caller, "s", 0, func(row gen.EventTimelineRow) error {
				seen++
				switch {
				case seen == events:
					if looked.Load() < events {
						t.Errorf("the test is blind: %d", looked.Load())
					}
					looked.Store(0)
				case seen < events:
					return nil
				case seen == events+5:
					stop()
					return nil
				}
				d.sql("INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('other', 'phase_transition', 'context', 1, 1)")
				_, err := d.advance("s", first)
				return err
			}))
			if got := looked.Load(); got > 100 {
				t.Errorf("5 new events took a look at %d", got)
			}
		})
	}
}

// TestFollowRuns: a map that goes into its next runs is followed with the run
// that the timeline tells, by our own verbs and as other programs write.
func TestFollowRuns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.completed("s", "map")
	next := []func(){
		func() { d.begin("s", "map") },
		func() { d.walk("s", "synthesis") },
		func() { _, err := d.completeMap("s", aMap); must(t, err) },
		func() {
			d.sql("INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('s', 'phase_transition', 'map-context', 1, 1)")
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var got []gen.EventTimelineRow
	all, err := lifecycle.Events(t.Context(), d.Caller, "s", 0)
	must(t, err)
	must(t, lifecycle.Follow(ctx, d.Caller, "s", 0, func(row gen.EventTimelineRow) error {
		got = append(got, row)
		if len(got) < len(all) {
			return nil
		}
		if len(next) == 0 {
			stop()
			return nil
		}
		next[0]()
		next = next[1:]
		all, err = lifecycle.Events(t.Context(), d.Caller, "s", 0)
		return err
	}))
	for i, want := range all {
		if got[i].EventID != want.EventID || got[i].MapRun == nil || *got[i].MapRun != *want.MapRun {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
	if last := all[len(all)-1]; *last.MapRun != 3 {
		t.Errorf("the last run is %d", *last.MapRun)
	}
}
