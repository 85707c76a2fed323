package main

import (
	"fmt"
	"io"

	"ocr/internal/lifecycle"
)

// verdictResult is what status, show and list say of the latest completed round;
// null while there is none.
type verdictResult struct {
	Verdict      *string `json:"verdict"`
	BlockerCount *int64  `json:"blocker_count"`
}

// verdictText is the line for people; none while no round is complete.
func verdictText(w io.Writer, v lifecycle.Verdict) {
	if v.VerdictRound == nil {
		return
	}
	text := "not recorded"
	if v.Verdict != nil {
		text = oneLine(*v.Verdict)
	}
	if v.BlockerCount != nil {
		text += fmt.Sprintf(", %d blocking", *v.BlockerCount)
	}
	fmt.Fprintf(w, "verdict  %s (round %d)\n", text, *v.VerdictRound)
}
