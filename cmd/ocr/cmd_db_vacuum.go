package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/care"
)

// vacuumResult is what vacuum prints under --json. Sizes are in bytes, of the
// file and its log together.
type vacuumResult struct {
	SchemaVersion   int     `json:"schema_version"`
	Path            string  `json:"path"`
	BytesBefore     int64   `json:"bytes_before"`
	BytesAfter      int64   `json:"bytes_after"`
	FreeBytesBefore int64   `json:"free_bytes_before"`
	FreeBytesAfter  int64   `json:"free_bytes_after"`
	Snapshot        *string `json:"snapshot"` // null without one
	Pending         bool    `json:"pending"`  // the file shrinks when its readers are done
}

func dbVacuumCommand(a *app) *command {
	fs := newFlags()
	noSnapshot := fs.Bool("no-snapshot", false, "make no copy of the file first")
	force := fs.Bool("force", false, "go on beside a dashboard and other users of the file; they wait meanwhile")
	return &command{
		name:     "vacuum",
		synopsis: "return free room in the database to the disk",
		usage:    "[--no-snapshot] [--force] [--json]",
		long: `Rewrites the file without its free pages; no row changes. It is copied to
ocr.db.bak.vacuum.TIME first. While a dashboard runs, or another process has the
database open, nothing is done (6): others would have to wait. ocr db stats tells
how much room is free.`,
		example: "ocr db vacuum",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			done, err := care.Vacuum(ctx, caller, care.VacuumOptions{NoSnapshot: *noSnapshot, Force: *force})
			if err != nil {
				return err
			}
			result := vacuumResult{
				SchemaVersion: schemaVersion, Path: caller.Project.Database(),
				BytesBefore: done.BytesBefore, BytesAfter: done.BytesAfter,
				FreeBytesBefore: done.FreeBefore, FreeBytesAfter: done.FreeAfter,
				Snapshot: pathOrNull(done.Snapshot), Pending: done.Pending,
			}
			return a.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "%d bytes before, of which %d were free; %d bytes now\n", done.BytesBefore, done.FreeBefore, done.BytesAfter)
				if done.Pending {
					fmt.Fprintln(w, "somebody still reads the old pages: the file shrinks when they are done")
				}
				if done.Snapshot != "" {
					fmt.Fprintf(w, "copied before to %s\n", oneLine(done.Snapshot))
				}
			})
		},
	}
}

// pathOrNull is nil for the empty path.
func pathOrNull(path string) *string {
	if path == "" {
		return nil
	}
	return &path
}
