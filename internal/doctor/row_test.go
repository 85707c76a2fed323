package doctor

import (
	"strings"
	"testing"
)

// TestRowString: what a column lacks is NULL, as at the SQL prompt.
func TestRowString(t *testing.T) {
	name, none := "s", (*string)(nil)
	for want, row := range map[string]Row{
		"a=x id=3 round=NULL":     {"round": nil, "id": int64(3), "a": "x"},
		"id=3 session_id=NULL":    {"session_id": none, "id": int64(3)},
		"other=NULL session_id=s": {"session_id": &name, "other": &none},
	} {
		if got := row.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestRowStringOfProcess: a process without a session, as a check lists it.
func TestRowStringOfProcess(t *testing.T) {
	p := soundProject(t)
	raw(t, p.Database(), `INSERT INTO command_executions (uid, command, started_at, last_heartbeat_at)
		VALUES ('alone', 'session-instance:x-1', datetime('now', '-1 hour'), datetime('now', '-1 hour'))`)
	checks := examine(t, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram(), Only: []string{"processes"}})
	said := ""
	for _, c := range checks {
		for _, row := range c.Rows {
			said += row.String() + "\n"
		}
	}
	if !strings.Contains(said, "id=alone") || strings.Contains(said, "session_id=\n") {
		t.Errorf("said %q", said)
	}
}
