package lifecycle_test

import (
	"strings"
	"testing"

	"ocr/internal/lifecycle"
)

// TestResolve picks sessions through advance: every verb has the one resolver.
func TestResolve(t *testing.T) {
	t.Parallel()
	stay := func(d *desk, id string) func() error {
		return func() error { _, err := d.advance(id, "context"); return err }
	}
	desk := func(t *testing.T) *desk {
		d := newDesk(t)
		d.begin("a", "review")
		d.begin("b", "review")
		d.sql(`INSERT INTO command_executions (uid, command, workflow_id) VALUES ('mine', 'ocr review', 'b'), ('tied to none', 'ocr review', NULL)`)
		return d
	}

	t.Run("Named", func(t *testing.T) {
		d := desk(t)
		d.ExecutionUID = "mine"
		before := len(d.log("b"))
		must(t, stay(d, "a")())
		if len(d.log("a")) != 2 || len(d.log("b")) != before || len(d.notices) != 0 {
			t.Errorf("a %v, b %v, notices %q", d.log("a"), d.log("b"), d.notices)
		}
	})
	t.Run("ByEnvironment", func(t *testing.T) {
		d := desk(t)
		d.ExecutionUID = "mine"
		must(t, stay(d, "")())
		if len(d.log("a")) != 1 || len(d.log("b")) != 2 || !d.noticed("session b") {
			t.Errorf("a %v, b %v, notices %q", d.log("a"), d.log("b"), d.notices)
		}
	})
	t.Run("OnlyActive", func(t *testing.T) {
		d := desk(t)
		_, err := d.finish("a", true)
		must(t, err)
		must(t, stay(d, "")())
		if len(d.log("b")) != 2 || !d.noticed("session b") {
			t.Errorf("b %v, notices %q", d.log("b"), d.notices)
		}
	})
	t.Run("Several", func(t *testing.T) {
		d := desk(t)
		for _, uid := range []string{"", "nope", "tied to none"} {
			d.ExecutionUID = uid
			no := d.refused(lifecycle.Ambiguous, lifecycle.KindSeveralActive, stay(d, ""))
			if !strings.Contains(no.Message, `"a", "b"`) {
				t.Errorf("the sessions are not listed: %q", no.Message)
			}
		}
	})
	t.Run("NoneActive", func(t *testing.T) {
		d := newDesk(t)
		d.refused(lifecycle.NotFound, lifecycle.KindNoActiveSession, stay(d, ""))
	})
	t.Run("NoSuchSession", func(t *testing.T) {
		d := desk(t)
		d.refused(lifecycle.NotFound, lifecycle.KindNoSession, stay(d, "nope"))
	})
}
