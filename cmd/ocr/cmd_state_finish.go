package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/lifecycle"
)

// finishResult is what finish prints under --json.
type finishResult struct {
	SchemaVersion  int    `json:"schema_version"`
	SessionID      string `json:"session_id"`
	Changed        bool   `json:"changed"` // false: it was closed already, or stays open
	Completeness   string `json:"completeness"`
	ProcessesEnded int64  `json:"processes_ended"`
	Open           string `json:"open,omitempty"` // why it stays open
	outlookResult
}

func finishCommand(a *app) *command {
	fs := newFlags()
	id := sessionFlag(fs)
	abort := fs.Bool("abort", false, "close it without a result")
	breakLease := fs.Bool("break-lease", false, "with --abort: also while somebody else carries the round on")
	ifComplete := fs.Bool("if-complete", false, "leave it open while it is not complete or a process runs; no failure")
	c := &command{
		name:     "finish",
		synopsis: "close a session whose current round or run is complete",
		usage:    "[--session-id ID] [--abort [--break-lease] | --if-complete] [--json]",
		long: `Refuses (6) while the current round or run is not complete. With --abort any
session is closed, and the log says that it was aborted. Its unfinished processes
are ended with it. A closed session stays as it is. With --if-complete it is closed
only if that needs neither a refusal nor the end of a process but the caller's own;
else it stays open and "open" says why: not_complete, still_running or lease_held.
While somebody else carries the round on it is refused (6, lease_held); a person
who knows better adds --abort --break-lease, and the log says whose lease that was.`,
		example: "ocr state finish --session-id 2026-03-02-cart",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if *abort && *ifComplete {
			return c.usageError("%s takes --abort or --if-complete, not both", c.path)
		}
		if *breakLease && !*abort {
			return c.usageError("%s takes --break-lease only with --abort", c.path)
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		done, err := lifecycle.Finish(ctx, caller, lifecycle.FinishRequest{SessionID: *id, Abort: *abort, BreakLease: *breakLease, IfComplete: *ifComplete})
		if err != nil {
			return err
		}
		result := finishResult{schemaVersion, done.SessionID, done.Changed, done.Completeness, done.Ended, done.Open, outlookJSON(done.Outlook)}
		return a.print(result, func(w io.Writer) {
			if done.Open != "" {
				fmt.Fprintf(w, "session %s stays open: %s\n", oneLine(done.SessionID), done.Open)
			} else {
				fmt.Fprintf(w, "session %s is closed: %s\n", oneLine(done.SessionID), done.Completeness)
			}
			outlookText(w, done.Outlook)
		})
	}
	return c
}
