package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"ocr/internal/journal"
	"ocr/internal/lifecycle"
)

// sweepResult is what sweep prints under --json.
type sweepResult struct {
	SchemaVersion int                 `json:"schema_version"`
	DryRun        bool                `json:"dry_run"`
	OlderThanDays int64               `json:"older_than_days"`
	Processes     sweptProcesses      `json:"processes"`
	Sessions      []sweptSession      `json:"sessions"`
	Unreadable    []unreadableSession `json:"unreadable"`
}

// sweptProcesses are the processes by what the sweep made of them.
type sweptProcesses struct {
	Orphaned   []sweptProcess `json:"orphaned"`   // dead
	Ended      []sweptProcess `json:"ended"`      // with their supervisor
	Unknown    []sweptProcess `json:"unknown"`    // left alone: nothing can be proved
	Unreadable []sweptProcess `json:"unreadable"` // left alone: their heartbeat is no time
}

// sweptProcess is one process that was ended, or would be, or left alone.
type sweptProcess struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	PID       *int64 `json:"pid"`
	Reason    string `json:"reason"`
}

// sweptSession is one session that was closed, or would be.
type sweptSession struct {
	SessionID   string `json:"session_id"`
	Action      string `json:"action"` // finish or stale-close
	LastEventAt string `json:"last_event_at"`
}

// unreadableSession is one that is left alone: its last time is none.
type unreadableSession struct {
	SessionID   string `json:"session_id"`
	LastEventAt string `json:"last_event_at"`
}

func sweepCommand(a *app) *command {
	fs := newFlags()
	days := wholeNumber(fs, "older-than", 1, fmt.Sprintf("`DAYS` without any event after which a session counts as left behind (%d)", lifecycle.StaleDays))
	days.Value = lifecycle.StaleDays
	dryRun := fs.Bool("dry-run", false, "say what would be done and change nothing")
	return &command{
		name:     "sweep",
		synopsis: "end dead processes and close sessions that nobody works on",
		usage:    "[--older-than DAYS] [--dry-run] [--json]",
		long: `Ends the rows of processes that are provably dead, and those that worked for a
dead supervisor. Then closes active sessions without an unfinished process: as
finish does when the current round or run is complete, else without a result when
nothing happened for so many days. A session whose last time cannot be read is
left alone and listed.
Sweeping again changes nothing more.`,
		example: "ocr state sweep --dry-run",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			processes, err := journal.Sweep(ctx, caller, journal.SweepRequest{DryRun: *dryRun})
			if err != nil {
				return err
			}
			request := lifecycle.SweepRequest{OlderThanDays: days.Value, DryRun: *dryRun}
			for _, p := range slices.Concat(processes.Orphaned, processes.Ended) {
				request.Ended = append(request.Ended, p.ExecutionID)
			}
			swept, err := lifecycle.Sweep(ctx, caller, request)
			if err != nil {
				return err
			}
			result := sweepResult{
				SchemaVersion: schemaVersion, DryRun: *dryRun, OlderThanDays: days.Value,
				Processes: sweptProcesses{
					Orphaned: sweptProcessRows(processes.Orphaned), Ended: sweptProcessRows(processes.Ended),
					Unknown: sweptProcessRows(processes.Unknown), Unreadable: sweptProcessRows(processes.Unreadable),
				},
				Sessions: []sweptSession{}, Unreadable: []unreadableSession{},
			}
			for _, s := range swept.Closed {
				result.Sessions = append(result.Sessions, sweptSession{s.SessionID, s.Action, s.LastAt})
			}
			for _, s := range swept.Unreadable {
				result.Unreadable = append(result.Unreadable, unreadableSession{s.SessionID, s.LastAt})
			}
			return a.print(result, func(w io.Writer) { sweepText(w, result) })
		},
	}
}

func sweptProcessRows(processes []journal.Swept) []sweptProcess {
	rows := []sweptProcess{}
	for _, p := range processes {
		rows = append(rows, sweptProcess{p.ID, p.SessionID, p.Name, p.Kind, p.PID, p.Reason})
	}
	return rows
}

func sweepText(w io.Writer, result sweepResult) {
	quiet := true
	line := func(action, format string, values ...any) {
		quiet = false
		fmt.Fprintf(w, "%-11s  "+format+"\n", append([]any{action}, values...)...)
	}
	end, leave := "ended", "left alone"
	if result.DryRun {
		fmt.Fprintln(w, "dry run, nothing was changed; this would be done:")
		end, leave = "end", "leave alone"
	}
	for _, p := range slices.Concat(result.Processes.Orphaned, result.Processes.Ended) {
		line(end, "process %s: %s", strings.TrimSpace(oneLine(p.ID)+" "+oneLine(p.Name)), oneLine(p.Reason))
	}
	for _, p := range slices.Concat(result.Processes.Unknown, result.Processes.Unreadable) {
		line(leave, "process %s %s: %s", oneLine(p.ID), oneLine(p.Name), oneLine(p.Reason))
	}
	for _, s := range result.Sessions {
		line(s.Action, "session %s, last event %s", oneLine(s.SessionID), oneLine(s.LastEventAt))
	}
	for _, s := range result.Unreadable {
		line(leave, "session %s: the time of its last event is %q", oneLine(s.SessionID), s.LastEventAt)
	}
	if quiet {
		fmt.Fprintln(w, "nothing to sweep")
	}
}
