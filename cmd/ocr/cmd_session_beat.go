package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/journal"
)

// beatResult is what beat prints under --json.
type beatResult struct {
	SchemaVersion   int    `json:"schema_version"`
	ID              string `json:"id"`
	LastHeartbeatAt string `json:"last_heartbeat_at"`
}

func beatCommand(a *app) *command {
	return &command{
		name:     "beat",
		synopsis: "give a sign of life for a process",
		usage:    "UID [--json]",
		long:     "A process that has ended gives none: 6.",
		example:  "ocr session beat 3f0c2f9e-2a51-4c7b-9a55-0f6d5f3f8a01",
		exits:    []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant, exitBusy},
		minArgs:  1,
		maxArgs:  1,
		exec: func(ctx context.Context, args []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			at, err := journal.Beat(ctx, caller, args[0])
			if err != nil {
				return err
			}
			return a.print(beatResult{schemaVersion, args[0], at}, func(w io.Writer) {
				fmt.Fprintf(w, "process %s: heartbeat at %s\n", oneLine(args[0]), at)
			})
		},
	}
}
