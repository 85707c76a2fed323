package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/care"
)

// checkpointResult is what checkpoint prints under --json. Sizes are in bytes.
type checkpointResult struct {
	SchemaVersion  int    `json:"schema_version"`
	Path           string `json:"path"`
	LogBytesBefore int64  `json:"log_bytes_before"`
	LogBytesAfter  int64  `json:"log_bytes_after"`
}

func dbCheckpointCommand(a *app) *command {
	return &command{
		name:     "checkpoint",
		synopsis: "move the write-ahead log into the database file",
		usage:    "[--json]",
		long: `The log (ocr.db-wal) normally goes when the last user of the database leaves; one
that reads for long lets it grow. What can be moved is moved. If somebody still
reads old pages or writes after some seconds, that is exit code 8, and on Linux
the message names who it is.`,
		example: "ocr db checkpoint",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			done, err := care.Checkpoint(ctx, caller)
			if err != nil {
				return err
			}
			result := checkpointResult{schemaVersion, caller.Project.Database(), done.LogBefore, done.LogAfter}
			return a.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "the log had %d bytes and has %d now\n", done.LogBefore, done.LogAfter)
			})
		},
	}
}
