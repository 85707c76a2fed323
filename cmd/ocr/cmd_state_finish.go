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
	Changed        bool   `json:"changed"` // false: it was closed already
	Completeness   string `json:"completeness"`
	ProcessesEnded int64  `json:"processes_ended"`
}

func finishCommand(a *app) *command {
	fs := newFlags()
	id := sessionFlag(fs)
	abort := fs.Bool("abort", false, "close it without a result")
	return &command{
		name:     "finish",
		synopsis: "close a session whose current round or run is complete",
		usage:    "[--session-id ID] [--abort] [--json]",
		long: `Refuses (6) while the current round or run is not complete. With --abort any
session is closed, and the log says that it was aborted. Its unfinished processes
are ended with it. A closed session stays as it is.`,
		example: "ocr state finish --session-id 2026-03-02-cart",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			done, err := lifecycle.Finish(ctx, caller, lifecycle.FinishRequest{SessionID: *id, Abort: *abort})
			if err != nil {
				return err
			}
			result := finishResult{schemaVersion, done.SessionID, done.Changed, done.Completeness, done.Ended}
			return a.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "session %s is closed: %s\n", oneLine(done.SessionID), done.Completeness)
			})
		},
	}
}
