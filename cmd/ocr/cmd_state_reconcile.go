package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/lifecycle"
)

// reconcileResult is what reconcile prints under --json. Its keys are those
// of the programs that share the database.
type reconcileResult struct {
	SchemaVersion int                 `json:"schema_version"`
	DryRun        bool                `json:"dryRun"`
	Actions       []reconciledSession `json:"actions"`
	Unreadable    []unreadableTime    `json:"unreadable"`
}

// reconciledSession is one session that was repaired, or would be.
type reconciledSession struct {
	SessionID string `json:"sessionId"`
	Kind      string `json:"kind"`
	Detail    string `json:"detail"`
}

// unreadableTime is a session that is left alone: its last time is none.
type unreadableTime struct {
	SessionID   string `json:"sessionId"`
	LastEventAt string `json:"lastEventAt"`
}

func reconcileCommand(a *app) *command {
	fs := newFlags()
	dryRun := fs.Bool("dry-run", false, "say what would be done and change nothing")
	return &command{
		name:     "reconcile",
		synopsis: "repair sessions that older programs left contradicting themselves",
		usage:    "[--dry-run] [--json]",
		long: fmt.Sprintf(`A session that was closed without its completing event and without a reason gets
that event if its final.md (map: map.md) is on disk, else a note that it was
closed so. An active session without events, or with none for %d days, that no
process works for is closed as stale. One whose last time cannot be read is left
alone and listed. The upgrade of an old database does the same by itself; a dry
run on one names that too. Doing it again changes nothing more.`, lifecycle.StaleDays),
		example: "ocr state reconcile --dry-run",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			done, err := lifecycle.Reconcile(ctx, caller, *dryRun)
			if err != nil {
				return err
			}
			result := reconcileResult{schemaVersion, *dryRun, []reconciledSession{}, []unreadableTime{}}
			for _, action := range done.Actions {
				result.Actions = append(result.Actions, reconciledSession{action.SessionID, action.Kind, action.Detail})
			}
			for _, session := range done.Unreadable {
				result.Unreadable = append(result.Unreadable, unreadableTime{session.SessionID, session.LastAt})
			}
			return a.print(result, func(w io.Writer) { reconcileText(w, result) })
		},
	}
}

func reconcileText(w io.Writer, result reconcileResult) {
	for _, action := range result.Actions {
		fmt.Fprintf(w, "%-26s  session %s: %s\n", action.Kind, oneLine(action.SessionID), oneLine(action.Detail))
	}
	for _, session := range result.Unreadable {
		fmt.Fprintf(w, "%-26s  session %s: the time of its last event is %q\n", "left alone", oneLine(session.SessionID), session.LastEventAt)
	}
	if len(result.Actions)+len(result.Unreadable) == 0 {
		fmt.Fprintln(w, "nothing to reconcile")
	}
}
