package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCheckNewID(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		for _, id := range []string{"a", "2026-01-02-feat-x", "fix#12", "(x)", "!x", "100%", "数据", "a b", "console",
			"com10", "a.b-c_d", strings.Repeat("x", MaxIDBytes)} {
			if err := CheckNewID(id); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("Refused", func(t *testing.T) {
		for id, want := range map[string]string{
			"":                                "session",
			"feat/x":                          "feat-x",
			`feat\x`:                          "feat-x",
			"../../etc":                       "etc",
			"..":                              "session",
			".hidden":                         "hidden",
			"-rf":                             "rf",
			"a:b|c?d*e":                       "a-b-c-d-e",
			"<a>":                             "a",
			"end.":                            "end",
			"end ":                            "end",
			"a\nb":                            "a-b",
			"a\x00b":                          "a-b",
			"a\u009bb":                        "a-b",
			"a\xffb":                          "a-b",
			"con":                             "session-con",
			"NUL.txt":                         "session-NUL.txt",
			"lpt1":                            "session-lpt1",
			strings.Repeat("x", MaxIDBytes+1): strings.Repeat("x", MaxIDBytes),
		} {
			var bad *BadID
			if err := CheckNewID(id); !errors.As(err, &bad) || bad.ID != id || bad.Reason == "" || bad.Suggestion != want {
				t.Errorf("CheckNewID(%q) = %+v, want the suggestion %q", id, bad, want)
			}
		}
	})
}

// TestCheckNewIDSuggestion: whatever was typed, the suggestion is fit, and it
// is one folder directly below the sessions.
func TestCheckNewIDSuggestion(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\ :con\-]{0,8}`),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.StringN(150, 250, -1), func(s string) string { return "-" + s }))
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		id := text.Draw(t, "id")
		fit := id
		var bad *BadID
		if errors.As(CheckNewID(id), &bad) {
			fit = bad.Suggestion
		}
		if err := CheckNewID(fit); err != nil {
			t.Fatalf("suggestion for %q: %v", id, err)
		}
		if !utf8.ValidString(fit) || filepath.Dir(filepath.Join(root, fit)) != root {
			t.Fatalf("%q leads elsewhere", fit)
		}
		path := filepath.Join(root, fit)
		if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	})
}
