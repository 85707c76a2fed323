package artifact

import (
	"fmt"
	"strings"
)

// Problem is one rule a payload breaks.
type Problem struct {
	// Path is the JSON path of the offending value, like
	// $.reviewers[0].findings[2].title; $ is the whole payload.
	Path string `json:"path"`
	// Message completes the sentence that Path begins.
	Message string `json:"message"`
}

// MaxProblems is how many problems of one payload are told. Checking stops at
// the next one.
const MaxProblems = 1000

// Invalid says that a payload may not be recorded, and why: every problem, in
// document order. A missing key counts as standing where its object begins.
type Invalid struct {
	Problems []Problem
	// Truncated: there are more than MaxProblems; these were found first.
	Truncated bool
}

// Error gives one line a problem.
func (e *Invalid) Error() string {
	var b strings.Builder
	switch {
	case len(e.Problems) == 1:
		b.WriteString("the payload is invalid:")
	case e.Truncated:
		fmt.Fprintf(&b, "the payload is invalid, more than %d problems:", len(e.Problems))
	default:
		fmt.Fprintf(&b, "the payload is invalid, %d problems:", len(e.Problems))
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %s %s", p.Path, p.Message)
	}
	if e.Truncated {
		fmt.Fprintf(&b, "\n  and more: checking stopped after %d problems", len(e.Problems))
	}
	return b.String()
}

func invalid(format string, args ...any) *Invalid {
	return &Invalid{Problems: []Problem{{Path: "$", Message: fmt.Sprintf(format, args...)}}}
}

// maxQuoted is how many characters of a refused text a message repeats.
const maxQuoted = 60

// quote shows a refused text in a message, safe for a terminal.
func quote(s string) string {
	if cut := firstRunes(s, maxQuoted); cut != s {
		return fmt.Sprintf("%q...", cut)
	}
	return fmt.Sprintf("%q", s)
}
