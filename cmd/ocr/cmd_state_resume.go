package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"ocr/internal/lifecycle"
)

// resumeResult is what resume prints under --json.
type resumeResult struct {
	SchemaVersion     int      `json:"schema_version"`
	SessionID         string   `json:"session_id"`
	WorkflowType      string   `json:"workflow_type"`
	Resumed           bool     `json:"resumed"`
	Closed            bool     `json:"closed"`
	Reason            *string  `json:"reason"` // null: it was resumed
	Round             int64    `json:"round"`
	MapRun            *int64   `json:"map_run,omitempty"` // maps only
	Phase             string   `json:"phase"`
	PhaseNumber       int64    `json:"phase_number"`
	RemainingPhases   []string `json:"remaining_phases"`
	LeaseUntil        *string  `json:"lease_until"` // null: there is no lease
	Lease             *lease   `json:"lease"`       // the same, with what shows it
	Changed           bool     `json:"changed"`     // false: the caller had it already, or nothing is to be taken over
	Attempts          int64    `json:"attempts"`
	AttemptsRemaining int64    `json:"attempts_remaining"`
	outlookResult
}

// lease is what the holder of a round keeps.
type lease struct {
	Token string `json:"token"`
	Until string `json:"until"`
}

func resumeCommand(a *app) *command {
	fs := newFlags()
	id := sessionFlag(fs)
	now := fs.Bool("now", false, "take it over although something happened in it just now")
	return &command{
		name:     "resume",
		synopsis: "take over a round or run that nobody works on any more",
		usage:    "[--session-id ID] [--now] [--lease TOKEN] [--json]",
		long: `The caller alone may carry the round on, from the phase it stopped in, until
lease_until and for as long after each further step. It shows later commands that
it is the holder by its process (OCR_DASHBOARD_EXECUTION_UID), else by the token:
--lease TOKEN, or OCR_LEASE. Given again by the holder, the command renews the lease
and costs no attempt. Refuses (6) while a process of the session is live
(still_running), while somebody else has it (lease_held, with until and owner), and
while something happened in it just now (still_moving), unless --now is given or all
of its processes are proved dead. When every attempt is used up the session is
closed without a result; its files stay. runtime.forward_resume_max_attempts and
runtime.forward_resume_lease_seconds in .ocr/config.yaml set both limits.`,
		example: "ocr state resume --session-id 2026-03-02-cart --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			got, err := lifecycle.Resume(ctx, caller, lifecycle.ResumeRequest{SessionID: *id, Now: *now})
			if err != nil {
				return err
			}
			return a.print(resumeJSON(got), func(w io.Writer) { resumeText(w, got) })
		},
	}
}

func resumeJSON(got lifecycle.ResumeResult) resumeResult {
	result := resumeResult{
		SchemaVersion: schemaVersion, SessionID: got.SessionID, WorkflowType: got.Workflow,
		Resumed: got.Resumed, Changed: got.Changed, Closed: got.Closed, Round: got.Round,
		Phase: got.Phase, PhaseNumber: got.PhaseNumber, RemainingPhases: got.Remaining,
		Attempts: got.Attempts, AttemptsRemaining: got.AttemptsLeft,
		outlookResult: outlookJSON(got.Outlook),
	}
	if got.Workflow == "map" {
		result.MapRun = &got.MapRun
	}
	if got.Reason != "" {
		result.Reason = &got.Reason
	}
	if got.Resumed {
		until := got.LeaseUntil.Format(time.RFC3339)
		result.LeaseUntil = &until
		result.Lease = &lease{Token: got.LeaseToken, Until: until}
	}
	return result
}

func resumeText(w io.Writer, got lifecycle.ResumeResult) {
	what := counted(got.Workflow, got.Round, got.MapRun)
	switch {
	case got.Resumed:
		fmt.Fprintf(w, "session %s: %s is yours until %s, from phase %s\n",
			oneLine(got.SessionID), what, got.LeaseUntil.Format(time.RFC3339), oneLine(got.Phase))
		fmt.Fprintf(w, "lease: %s (show it with --lease, or as OCR_LEASE)\n", oneLine(got.LeaseToken))
	case got.Closed:
		fmt.Fprintf(w, "session %s is closed without a result: %s was taken over %d times\n", oneLine(got.SessionID), what, got.Attempts)
	default:
		fmt.Fprintf(w, "session %s: nothing to take over\n", oneLine(got.SessionID))
	}
	outlookText(w, got.Outlook)
}
