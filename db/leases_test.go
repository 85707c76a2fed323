package db

import (
	"fmt"
	"testing"
)

// TestLeases asks the view as a person with a SQL prompt does.
func TestLeases(t *testing.T) {
	p := newPrompt(t)
	p.session(t, "s", "review")
	lease := func(metadata, at string) {
		t.Helper()
		p.do(t, fmt.Sprintf("INSERT INTO orchestration_events (session_id, event_type, metadata, created_at) VALUES ('s', 'session_resumed', %s, %s)", metadata, at))
	}
	const newest = "SELECT owner, lease_seconds, is_attempt, owner_ended, in_force FROM leases WHERE is_newest = 1"

	// What is no lease is none, whatever stands in it.
	for _, odd := range []string{"'{'", "''", "'[]'", "x'00'", `'{"kind":["forward_resume"],"round":1}'`, `'{"kind":"forward_resume"'`} {
		lease(odd, "datetime('now')")
	}
	p.want(t, "SELECT * FROM leases")

	lease(`'{"kind":"forward_resume","round":1}'`, "datetime('now', '-29 minutes')")
	p.want(t, newest, "NULL|1800|1|0|1")
	for metadata, want := range map[string]string{
		`"owner":"a","lease_seconds":60`:                   "a|60|1|0|1",
		`"owner":"a"`:                                      "a|1800|1|0|1",
		`"owner":"a","lease_seconds":0`:                    "a|1800|1|0|1",
		`"owner":"a","lease_seconds":-5`:                   "a|1800|1|0|1",
		`"owner":"a","lease_seconds":"60"`:                 "a|1800|1|0|1",
		`"owner":"a","lease_seconds":1e9`:                  "a|1800|1|0|1",
		`"owner":"a","lease_seconds":99999999999999999999`: "a|2592000|1|0|1",
		`"owner":7,"lease_seconds":[]`:                     "NULL|1800|1|0|1",
		`"owner":"","lease_seconds":null`:                  "NULL|1800|1|0|1",
	} {
		lease(`'{"kind":"forward_resume","round":1,`+metadata+`}'`, "datetime('now')")
		p.want(t, newest, want)
	}
	// The name of another round is not of this one; nor is a text.
	lease(`'{"kind":"forward_resume","round":2,"owner":"b"}'`, "datetime('now')")
	lease(`'{"kind":"forward_resume","round":"1","owner":"b"}'`, "datetime('now')")
	p.want(t, "SELECT COUNT(*) FROM leases WHERE owner = 'b' AND is_newest + is_attempt > 0", "0")

	// A step that names it renews it, and no other event does.
	lease(`'{"kind":"forward_resume","round":1,"owner":"c","lease_seconds":60}'`, "datetime('now', '-1 hour')")
	p.want(t, newest, "c|60|1|0|0")
	for _, odd := range []string{"NULL", "'{'", `'{"lease":1}'`, `'{"lease":"x"}'`} {
		p.event(t, "s", "phase_transition", "context", 1, 1, odd)
	}
	p.want(t, newest, "c|60|1|0|0")
	p.do(t, `INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata)
		SELECT 's', 'phase_transition', 'context', 1, 1, json_object('lease', event_id) FROM leases WHERE is_newest = 1`)
	p.want(t, newest, "c|60|1|0|1")
	p.want(t, "SELECT unixepoch(until) = last_sign_epoch + 60, last_sign_id > event_id FROM leases WHERE is_newest = 1", "1|1")

	// It ends with its owner's process, with the session, and with the opening
	// of the next round; a time that cannot be read is told as that.
	p.do(t, "INSERT INTO command_executions (uid, command, finished_at) VALUES ('c', 'x', datetime('now', '+2 seconds'))")
	p.want(t, newest, "c|60|1|1|0")
	lease(`'{"kind":"forward_resume","round":1,"owner":"d"}'`, "'yesterday'")
	p.want(t, newest, "d|1800|1|0|NULL")
	lease(`'{"kind":"forward_resume","round":1,"owner":"d"}'`, "datetime('now', '+1 day')")
	p.want(t, newest, "d|1800|1|0|1")
	p.event(t, "s", "round_started", "context", 1, 2, "NULL")
	p.want(t, newest)
}
