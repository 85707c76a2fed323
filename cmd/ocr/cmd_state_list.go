package main

import (
	"context"
	"io"

	"ocr/internal/lifecycle"
)

// listedSession is one entry of what list prints under --json.
type listedSession struct {
	sessionRow
	CompletenessState string `json:"completeness_state"`
	verdictResult
}

func listCommand(a *app) *command {
	fs := newFlags()
	status := oneOf(fs, "status", "all", "`STATUS` of the sessions: active, closed or all", "active", "closed", "all")
	return &command{
		name:     "list",
		synopsis: "list the sessions, newest first",
		usage:    "[--status active|closed|all] [--json]",
		long:     "Prints an empty list where there is no database yet. Changes nothing.",
		example:  "ocr state list --status active",
		exits:    []int{exitOK, exitEnvironment, exitUsage, exitBusy},
		flags:    fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			rows, err := lifecycle.List(ctx, caller, status.Value)
			if err != nil {
				return err
			}
			result := make([]listedSession, 0, len(rows))
			for _, s := range rows {
				result = append(result, listedSession{sessionRow{
					s.ID, s.Branch, s.Status, s.WorkflowType, s.CurrentPhase, s.PhaseNumber,
					s.CurrentRound, s.CurrentMapRun, s.StartedAt, s.UpdatedAt, s.SessionDir,
				}, s.CompletenessState, verdictResult{s.Verdict, s.BlockerCount}})
			}
			return a.print(result, func(w io.Writer) {
				list := newListing("started (UTC)", "session", "state", "place", "phase", "verdict", "blockers")
				for _, s := range result {
					list.row(s.StartedAt, s.ID, s.CompletenessState,
						counted(s.WorkflowType, s.CurrentRound, s.CurrentMapRun), s.CurrentPhase,
						optional(s.Verdict), optionalNumber(s.BlockerCount))
				}
				list.print(w)
			})
		},
	}
}
