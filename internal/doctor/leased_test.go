package doctor

import (
	"testing"
)

// TestLeasedIsNotStranded: the length of a lease is its own. Settings of the
// reader under which it would be over do not make its session a stranded one.
func TestLeasedIsNotStranded(t *testing.T) {
	for name, c := range map[string]struct {
		seconds string
		want    Status
	}{"InForce": {"1800", OK}, "Over": {"90", Warn}} {
		t.Run(name, func(t *testing.T) {
			p := soundProject(t)
			endGoing(t, p)
			raw(t, p.Database(), session("old", "context", "-2 minutes"), created("old", "datetime('now', '-2 minutes')"),
				`INSERT INTO orchestration_events (session_id, event_type, metadata, created_at) VALUES ('old', 'session_resumed',
					'{"kind":"forward_resume","round":1,"owner":"o","token":"t","lease_seconds":`+c.seconds+`}', datetime('now', '-2 minutes'))`)
			in := Request{Start: p.Root, Getenv: environment(t), Program: thisProgram(), Only: []string{"lifecycle.stranded"}}
			settle(&in, "OCR_FORWARD_RESUME_LEASE_SECONDS", "60")
			if checks := examine(t, in); len(checks) != 1 || checks[0].Status != c.want {
				t.Errorf("got %+v, want %s", checks, c.want)
			}
		})
	}
}
