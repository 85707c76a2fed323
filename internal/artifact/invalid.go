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

// MaxProblems is how many problems of one payload are told.
const MaxProblems = 20

// maxCounted is how many problems are counted. Checking stops at the next one: a
// payload of nothing but faults must not keep anybody waiting.
const maxCounted = 100_000

// Invalid says that a payload may not be recorded, and why.
type Invalid struct {
	// Problems are the first ones in document order, each once. A missing key
	// counts as standing where its object begins.
	Problems []Problem
	// More is the number of the others.
	More int
	// Truncated: there are even more, which nobody has counted.
	Truncated bool
}

// Error gives one line a problem.
func (e *Invalid) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the payload is invalid%s:", e.count())
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %s %s", p.Path, p.Message)
	}
	switch {
	case e.Truncated:
		fmt.Fprintf(&b, "\n  and more than %d others: checking stopped there", e.More)
	case e.More == 1:
		b.WriteString("\n  and 1 other")
	case e.More > 1:
		fmt.Fprintf(&b, "\n  and %d others", e.More)
	}
	return b.String()
}

// Summary is one line with the first problem, for who has the others at hand.
func (e *Invalid) Summary() string {
	return fmt.Sprintf("the payload is invalid%s: %s %s", e.count(), e.Problems[0].Path, e.Problems[0].Message)
}

// count says how many problems there are, unless it is only one.
func (e *Invalid) count() string {
	n := len(e.Problems) + e.More
	switch {
	case n == 1:
		return ""
	case e.Truncated:
		return fmt.Sprintf(", more than %d problems", n)
	}
	return fmt.Sprintf(", %d problems", n)
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
