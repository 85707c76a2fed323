package shell

import (
	"os/exec"
	"testing"
)

// TestQuote: a shell takes every quoted word as it is, and plain words are
// left bare.
func TestQuote(t *testing.T) {
	for _, word := range []string{"a", "/tmp/x-1.db", "a@b:c%d+e,f", "", " ", "two words", "it's", `a"b\c`, "$HOME", "a;b", "~", "*", "\n", "#x", "ünï", "a=b"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q became %q, which is read as %q (%v)", word, Quote(word), out, err)
		}
	}
	for _, word := range []string{"a", "/tmp/x-1.db", "2026-01-05-cart"} {
		if Quote(word) != word {
			t.Errorf("%s became %s", word, Quote(word))
		}
	}
}
