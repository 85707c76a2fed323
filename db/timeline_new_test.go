package db

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ocr/db/gen"
)

// TestTimelineNew holds EventTimelineNew to session_timeline: whichever event
// a reader has got to, it gives the same rows from there on.
func TestTimelineNew(t *testing.T) {
	t.Parallel()
	p := promptAt(t, len(stepNames(t)))
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []string{
		"phase_transition map-context 1 1", "phase_transition map-context 1 1", "phase_transition topology 2 1",
		"round_started map-context 1 1 {\"map_run\":%d}", "round_started map-context 1 1 {\"map_run\":%d}", "round_started map-context 1 1 odd",
		"map_completed synthesis 5 %d {}", "session_resumed - - - {\"kind\":\"forward_resume\",\"round\":1}", "session_resumed map-context 1 1",
		"session_synced complete 6 - {\"map_run\":%d}", "round_started context 1 %d",
	}
	for n := range 12 {
		id, workflow := fmt.Sprintf("s%d", n), "map"
		if n%4 == 3 {
			workflow = "review"
		}
		p.bare(t, id, workflow)
		p.logAt(t, id, "0 session_created map-context 1 1")
		for second := range 40 {
			line := kinds[random.IntN(len(kinds))]
			if slices.Contains([]byte(line), '%') {
				line = fmt.Sprintf(line, random.IntN(second/6+2))
			}
			p.logAt(t, id, fmt.Sprintf("%d %s", second, line))
			if n > 0 {
				p.logAt(t, "s0", "1 phase_transition topology 2 1") // ids of a session have gaps
			}
		}
	}
	for n := range 12 {
		id := fmt.Sprintf("s%d", n)
		q := gen.New(p.conn)
		all, err := q.EventTimeline(t.Context(), id, 0)
		must(t, err)
		seen := map[int64]bool{}
		run := int64(1)
		for i, last := range all {
			if last.MapRun != nil {
				run = *last.MapRun
				seen[run] = true
			}
			rest, err := q.EventTimelineNew(t.Context(), gen.EventTimelineNewParams{MapRun: run, SessionID: id, AfterID: last.EventID})
			must(t, err)
			if len(rest) != len(all)-i-1 {
				t.Fatalf("%s after %d: %d rows, want %d", id, last.EventID, len(rest), len(all)-i-1)
			}
			for k, got := range rest {
				want := all[i+1+k]
				if want.MapRun == nil {
					want.MapRun = &got.MapRun // means nothing here
				}
				if fmt.Sprint(got.EventID, got.SessionID, got.CreatedAt, got.EventType, text(got.Phase), text(got.PhaseNumber), text(got.Round), got.MapRun, got.IsLease, text(got.Metadata)) !=
					fmt.Sprint(want.EventID, want.SessionID, want.CreatedAt, want.EventType, text(want.Phase), text(want.PhaseNumber), text(want.Round), *want.MapRun, want.IsLease, text(want.Metadata)) {
					t.Fatalf("%s after %d: %+v (run %d), want %+v (run %d)", id, last.EventID, got, got.MapRun, want, *want.MapRun)
				}
			}
		}
		if n == 1 && len(seen) < 3 {
			t.Errorf("the log tells of too few runs: %v", seen)
		}
	}
}

func text[T any](value *T) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprint(*value)
}
