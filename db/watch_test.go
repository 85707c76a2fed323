package db

import (
	"os"
	"testing"
)

// TestWatch: whoever asks first and then reads sees every commit, also one of
// the same moment and size; while nothing is written the answer becomes no.
func TestWatch(t *testing.T) {
	t.Parallel()
	path := fresh(t)
	w := NewWatch(path)
	ask := func(what string, wantReplaced bool) {
		t.Helper()
		if changed, replaced := w.Changed(); !changed || replaced != wantReplaced {
			t.Errorf("%s: changed %t, replaced %t", what, changed, replaced)
		}
	}
	quiet := func() {
		t.Helper()
		for range 1 << 30 {
			if changed, replaced := w.Changed(); replaced {
				t.Fatal("replaced")
			} else if !changed {
				return
			}
		}
	}
	ask("first", true)
	quiet()
	for i := range 20 {
		raw(t, path, "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', 'n')")
		ask("a program that comes and goes", false)
		if i%2 == 0 {
			quiet()
		}
	}
	// Beside a writer that stays, whose log is reused from its start.
	s := open(t, path, Options{})
	for i := range 50 {
		must(t, s.Write(t.Context(), addPair(i)))
		ask("a writer that stays", false)
		if i%5 == 0 {
			quiet()
		}
	}
	must(t, s.Close())
	ask("the last one left", false)
	quiet()

	other := fresh(t)
	must(t, os.Rename(other, path))
	ask("another file", true)
	quiet()
	must(t, os.Remove(path))
	ask("no file", true)
	ask("still no file", true)
}
