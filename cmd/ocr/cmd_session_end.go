package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"ocr/internal/journal"
)

// endResult is what end-instance prints under --json.
type endResult struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	Status        string `json:"status"`
	ExitCode      *int64 `json:"exit_code"`
	Changed       bool   `json:"changed"` // false: it had ended already
}

func endInstanceCommand(a *app) *command {
	fs := newFlags()
	status := oneOf(fs, "status", "", "`STATUS` it ended with: done, crashed or cancelled",
		journal.Done, journal.Crashed, journal.Cancelled)
	code := wholeNumber(fs, "exit-code", math.MinInt32, "exit code `N` it ended with")
	note := fs.String("note", "", "`TEXT` to add to its notes")
	return &command{
		name:     "end-instance",
		synopsis: "record the end of a process",
		usage:    "UID [--status done|crashed|cancelled] [--exit-code N] [--note TEXT] [--json]",
		long: `With neither status nor code it is done. The codes mean: 0 done, -2 cancelled,
-3 to -5 are given by ocr alone, all others crashed. A process that has ended stays
as it is; only the note is added.`,
		example: "ocr session end-instance 3f0c2f9e-2a51-4c7b-9a55-0f6d5f3f8a01 --exit-code 0",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
		minArgs: 1,
		maxArgs: 1,
		exec: func(ctx context.Context, args []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			ended, err := journal.End(ctx, caller, journal.EndRequest{
				ID: args[0], Status: status.Value, ExitCode: code.given(), Note: *note,
			})
			if err != nil {
				return err
			}
			result := endResult{schemaVersion, ended.ID, ended.Status, ended.ExitCode, ended.Changed}
			return a.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "process %s: %s\n", oneLine(ended.ID), ended.Status)
			})
		},
	}
}
