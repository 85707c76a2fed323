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

// Invalid says that a payload may not be recorded, and why: every problem, in
// document order. A missing key counts as standing where its object begins.
type Invalid struct {
	Problems []Problem
}

// Error gives one line a problem.
func (e *Invalid) Error() string {
	var b strings.Builder
	if len(e.Problems) == 1 {
		b.WriteString("the payload is invalid:")
	} else {
		fmt.Fprintf(&b, "the payload is invalid, %d problems:", len(e.Problems))
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %s %s", p.Path, p.Message)
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
