package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"ocr/db/gen"
	"ocr/internal/artifact"
	"ocr/internal/lifecycle"
)

// showResult is what show prints under --json; session, events and their keys
// are shared with other programs.
type showResult struct {
	SchemaVersion int                `json:"schema_version"`
	Session       sessionRow         `json:"session"`
	Events        []eventRow         `json:"events"`
	PhaseTimings  []phaseTiming      `json:"phase_timings"`
	Artifacts     artifact.Inventory `json:"artifacts"`
	verdictResult
}

// sessionRow is one session as it is stored.
type sessionRow struct {
	ID            string `json:"id"`
	Branch        string `json:"branch"`
	Status        string `json:"status"`
	WorkflowType  string `json:"workflow_type"`
	CurrentPhase  string `json:"current_phase"`
	PhaseNumber   int64  `json:"phase_number"`
	CurrentRound  int64  `json:"current_round"`
	CurrentMapRun int64  `json:"current_map_run"`
	StartedAt     string `json:"started_at"`
	UpdatedAt     string `json:"updated_at"`
	SessionDir    string `json:"session_dir"`
}

// eventRow is one event as it is stored; metadata is the stored text.
type eventRow struct {
	ID          int64   `json:"id"`
	EventType   string  `json:"event_type"`
	Phase       *string `json:"phase"`
	PhaseNumber *int64  `json:"phase_number"`
	Round       *int64  `json:"round"`
	Metadata    *string `json:"metadata"`
	CreatedAt   string  `json:"created_at"`
}

// phaseTiming is one visit of a phase.
type phaseTiming struct {
	Visit       int64   `json:"visit"`
	Phase       *string `json:"phase"`
	PhaseNumber *int64  `json:"phase_number"`
	Round       *int64  `json:"round"`
	MapRun      *int64  `json:"map_run"`
	EnteredAt   string  `json:"entered_at"`
	LeftAt      *string `json:"left_at"`
	Seconds     *int64  `json:"seconds"`
}

func showCommand(a *app) *command {
	fs := newFlags()
	id := sessionFlag(fs)
	return &command{
		name:     "show",
		synopsis: "print everything that is known about a session",
		usage:    "[--session-id ID] [--json]",
		long: `The row, the whole log in order, the time spent in each phase, and the files on
disk. Prints null under --json, and nothing else, when no session is active and
none is named. Changes nothing.`,
		example: "ocr state show --session-id 2026-03-02-cart --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			view, err := lifecycle.Show(ctx, caller, *id)
			if err != nil {
				return err
			}
			if view == nil {
				return a.print(nil, func(w io.Writer) { fmt.Fprintln(w, "no session is active") })
			}
			result := showJSON(view)
			return a.print(result, func(w io.Writer) { showText(w, result, view) })
		},
	}
}

func showJSON(view *lifecycle.Overview) showResult {
	s := view.Session
	result := showResult{
		SchemaVersion: schemaVersion,
		Session: sessionRow{
			s.ID, s.Branch, s.Status, s.WorkflowType, s.CurrentPhase, s.PhaseNumber,
			s.CurrentRound, s.CurrentMapRun, s.StartedAt, s.UpdatedAt, s.SessionDir,
		},
		Events:       make([]eventRow, 0, len(view.Events)),
		PhaseTimings: make([]phaseTiming, 0, len(view.Timings)),
		Artifacts:    view.Artifacts,

		verdictResult: verdictResult{view.Verdict.Verdict, view.Verdict.BlockerCount},
	}
	for _, e := range view.Events {
		result.Events = append(result.Events, eventRow{e.ID, e.EventType, e.Phase, e.PhaseNumber, e.Round, e.Metadata, e.CreatedAt})
	}
	for _, t := range view.Timings {
		result.PhaseTimings = append(result.PhaseTimings, timingJSON(t))
	}
	return result
}

func timingJSON(t gen.EventPhaseTimingsRow) phaseTiming {
	return phaseTiming{t.Visit, t.Phase, t.PhaseNumber, t.Round, t.MapRun, t.EnteredAt, t.LeftAt, t.Seconds}
}

func showText(w io.Writer, r showResult, view *lifecycle.Overview) {
	s := r.Session
	fmt.Fprintf(w, "session  %s (%s, %s)\n", oneLine(s.ID), s.WorkflowType, s.Status)
	fmt.Fprintf(w, "branch   %s\n", oneLine(s.Branch))
	fmt.Fprintf(w, "place    %s, phase %s\n", counted(s.WorkflowType, s.CurrentRound, s.CurrentMapRun), oneLine(s.CurrentPhase))
	verdictText(w, view.Verdict)
	fmt.Fprintf(w, "folder   %s\n", oneLine(view.Dir))
	fmt.Fprintln(w, "\nlog (UTC)")
	log := newListing("  id", "time", "event", "number", "phase")
	for _, e := range r.Events {
		log.row("  "+strconv.FormatInt(e.ID, 10), e.CreatedAt, e.EventType, optionalNumber(e.Round), optional(e.Phase))
	}
	log.print(w)
	if len(r.PhaseTimings) > 0 {
		fmt.Fprintln(w, "\ntime per phase")
		timings := newListing("  visit", "phase", "number", "seconds")
		for _, t := range r.PhaseTimings {
			number := t.Round
			if t.MapRun != nil {
				number = t.MapRun
			}
			timings.row("  "+strconv.FormatInt(t.Visit, 10), optional(t.Phase), optionalNumber(number), optionalNumber(t.Seconds))
		}
		timings.print(w)
	}
	if len(r.Artifacts.Rounds)+len(r.Artifacts.MapRuns) == 0 {
		return
	}
	fmt.Fprintln(w, "\nfiles")
	for _, round := range r.Artifacts.Rounds {
		fmt.Fprintf(w, "  round %d: %s\n", round.Round, oneLine(optional(round.RoundMeta)))
	}
	for _, run := range r.Artifacts.MapRuns {
		fmt.Fprintf(w, "  run %d: %s\n", run.Run, oneLine(optional(run.MapMeta)))
	}
}

// optional is the text, or a dash where there is none.
func optional(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// optionalNumber is the number, or a dash where there is none.
func optionalNumber(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}
