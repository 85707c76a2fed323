package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/lifecycle"
)

// advanceResult is what advance prints under --json.
type advanceResult struct {
	SchemaVersion int    `json:"schema_version"`
	SessionID     string `json:"session_id"`
	Phase         string `json:"phase"`
	PhaseNumber   int64  `json:"phase_number"`
	Round         int64  `json:"round"`
	MapRun        *int64 `json:"map_run,omitempty"` // maps only
	outlookResult
}

func advanceCommand(a *app) *command {
	fs := newFlags()
	id := sessionFlag(fs)
	phase := fs.String("phase", "", "`PHASE` to enter")
	round := wholeNumber(fs, "current-round", 1, "review round `N` that the phase belongs to")
	run := wholeNumber(fs, "current-map-run", 1, "map run `N` that the phase belongs to")
	fs.String("phase-number", "", "`N` is taken and passed over: the number follows from the phase")
	c := &command{
		name:     "advance",
		synopsis: "enter the next phase",
		usage:    "--phase PHASE [--session-id ID] [--current-round N] [--current-map-run N] [--json]",
		long: `A review goes context, change-context, analysis, reviews, aggregation,
discourse, synthesis; a map goes map-context, topology, flow-analysis,
requirements-mapping, synthesis. Each phase may be entered again. complete is
entered by complete-round and complete-map only. From any phase the first one
may be entered together with the next round or run, and only so.`,
		example: "ocr state advance --session-id 2026-03-02-cart --phase change-context",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitTransition, exitInvariant, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if err := c.require("phase"); err != nil {
			return err
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		moved, err := lifecycle.Advance(ctx, caller, lifecycle.AdvanceRequest{
			SessionID: *id, Phase: *phase, Round: round.Value, MapRun: run.Value,
		})
		if err != nil {
			return err
		}
		result := advanceResult{
			SchemaVersion: schemaVersion, SessionID: moved.SessionID, Phase: moved.Phase,
			PhaseNumber: moved.PhaseNumber, Round: moved.Round,
			outlookResult: outlookJSON(moved.Outlook),
		}
		if moved.Workflow == "map" {
			result.MapRun = &moved.MapRun
		}
		return a.print(result, func(w io.Writer) {
			fmt.Fprintf(w, "session %s: %s, phase %s\n", oneLine(moved.SessionID), counted(moved.Workflow, moved.Round, moved.MapRun), moved.Phase)
			outlookText(w, moved.Outlook)
		})
	}
	return c
}
