package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/lifecycle"
)

// statusResult is what status prints under --json; the keys are shared with
// other programs.
type statusResult struct {
	SchemaVersion       int              `json:"schema_version"`
	SessionID           string           `json:"session_id"`
	WorkflowType        string           `json:"workflow_type"`
	Status              string           `json:"status"`
	CurrentPhase        string           `json:"current_phase"`
	PhaseNumber         int64            `json:"phase_number"`
	CurrentRound        int64            `json:"current_round"`
	CurrentMapRun       int64            `json:"current_map_run"`
	CompletenessState   string           `json:"completeness_state"`
	HasTerminalArtifact bool             `json:"has_terminal_artifact"`
	MarkedClosed        bool             `json:"marked_closed"`
	DependentsSettled   bool             `json:"dependents_settled"`
	NextAction          string           `json:"next_action"`
	NextActionKind      string           `json:"next_action_kind"`
	NextArgv            []string         `json:"next_argv"`
	RemainingPhases     []string         `json:"remaining_phases,omitempty"`
	AttemptsRemaining   *int64           `json:"forward_resume_attempts_remaining,omitempty"`
	WaitingOn           []waitingProcess `json:"waiting_on,omitempty"`
	StartedAt           string           `json:"started_at"`
	UpdatedAt           string           `json:"updated_at"`
	RoundStartedAt      *string          `json:"round_started_at"`
	MapStartedAt        *string          `json:"map_started_at"`
	verdictResult
}

// waitingProcess is one unfinished process of the session.
type waitingProcess struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	HeartbeatAge *int64 `json:"heartbeat_age_seconds"`
	Stalled      bool   `json:"stalled"`
	Provable     bool   `json:"provable"` // false: its death could not be proved from here
	Liveness     string `json:"liveness"` // alive, dead or unknown
	Reason       string `json:"reason"`   // why, in words; empty where it is alive
}

func statusCommand(a *app) *command {
	fs := newFlags()
	id := sessionFlag(fs)
	return &command{
		name:     "status",
		synopsis: "say where a session stands and what to do next",
		usage:    "[--session-id ID] [--json]",
		long: `Completion is read from the log, not from a flag: completeness_state is
complete, closed_without_artifact, in_flight or open_no_artifact. The command in
next_action works as printed. Changes nothing.`,
		example: "ocr state status --session-id 2026-03-02-cart --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			s, err := lifecycle.GetStatus(ctx, caller, *id)
			if err != nil {
				return err
			}
			return a.print(statusJSON(s), func(w io.Writer) { statusText(w, s) })
		},
	}
}

func statusJSON(s lifecycle.Status) statusResult {
	result := statusResult{
		SchemaVersion: schemaVersion, SessionID: s.SessionID, WorkflowType: s.WorkflowType, Status: s.Status,
		CurrentPhase: s.CurrentPhase, PhaseNumber: s.PhaseNumber,
		CurrentRound: s.CurrentRound, CurrentMapRun: s.CurrentMapRun,
		CompletenessState: s.CompletenessState, HasTerminalArtifact: s.HasTerminalArtifact,
		MarkedClosed: s.MarkedClosed, DependentsSettled: s.DependentsSettled,
		NextAction: s.Next.Text, NextActionKind: s.Next.Kind, NextArgv: s.Next.Argv,
		RemainingPhases: s.Next.Remaining, AttemptsRemaining: s.Next.AttemptsLeft,
		StartedAt: s.StartedAt, UpdatedAt: s.UpdatedAt,
		RoundStartedAt: s.RoundStartedAt, MapStartedAt: s.MapStartedAt,
		verdictResult: verdictResult{s.Verdict.Verdict, s.BlockerCount},
	}
	for _, p := range s.Next.WaitingOn {
		result.WaitingOn = append(result.WaitingOn, waitingProcess{
			p.ID, p.NameText(), p.HeartbeatAge, p.Stalled, p.Proved, p.State, p.Reason,
		})
	}
	return result
}

func statusText(w io.Writer, s lifecycle.Status) {
	fmt.Fprintf(w, "session  %s\n", oneLine(s.SessionID))
	fmt.Fprintf(w, "state    %s, %s\n", s.Status, s.CompletenessState)
	fmt.Fprintf(w, "place    %s, phase %s\n", counted(s.WorkflowType, s.CurrentRound, s.CurrentMapRun), oneLine(s.CurrentPhase))
	verdictText(w, s.Verdict)
	fmt.Fprintf(w, "started  %s, last change %s\n", oneLine(s.StartedAt), oneLine(s.UpdatedAt))
	fmt.Fprintf(w, "next     %s\n", oneLine(s.Next.Text))
}
