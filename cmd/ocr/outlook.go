package main

import (
	"fmt"
	"io"

	"ocr/internal/lifecycle"
)

// outlookResult is what every verb that moves a session adds under --json.
type outlookResult struct {
	SessionDir     string   `json:"session_dir"`  // absolute
	ArtifactDir    string   `json:"artifact_dir"` // of the current round or run, absolute
	NextAction     string   `json:"next_action"`
	NextActionKind string   `json:"next_action_kind"`
	NextArgv       []string `json:"next_argv"` // the command of the next action; empty when there is none
}

func outlookJSON(o lifecycle.Outlook) outlookResult {
	return outlookResult{o.SessionDir, o.ArtifactDir, o.Next.Text, o.Next.Kind, o.Next.Argv}
}

// outlookText is the line that says what comes next.
func outlookText(w io.Writer, o lifecycle.Outlook) {
	fmt.Fprintf(w, "next: %s\n", oneLine(o.Next.Text))
}
