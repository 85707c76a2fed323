package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/care"
)

// snapshotsResult is what snapshots prints under --json, newest first.
type snapshotsResult struct {
	SchemaVersion int              `json:"schema_version"`
	Snapshots     []snapshotResult `json:"snapshots"`
}

type snapshotResult struct {
	care.Snapshot
	Version *int    `json:"version"` // of the schema inside; null if it cannot be told
	Good    bool    `json:"good"`    // it can be put in the place of the database
	Fault   *string `json:"fault"`   // why not
}

func dbSnapshotsCommand(a *app) *command {
	fs := newFlags()
	path := pathFlag(fs, "db", "list the copies of the database file `PATH` instead of the project's")
	return &command{
		name:     "snapshots",
		synopsis: "list the copies of the database beside it",
		usage:    "[--db PATH] [--json]",
		long: `Reads each copy as a whole and says whether it can be put in the place of the
database, and if not, why. Newest first; changes nothing.`,
		example: "ocr db snapshots",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			file, err := a.databaseFile(*path)
			if err != nil {
				return err
			}
			copies, err := care.ListSnapshots(ctx, file)
			if err != nil {
				return err
			}
			result := snapshotsResult{schemaVersion, snapshotResults(copies)}
			return a.print(result, func(w io.Writer) {
				for _, s := range result.Snapshots {
					s.write(w)
				}
				if len(result.Snapshots) == 0 {
					fmt.Fprintln(w, "there are no snapshots")
				}
			})
		},
	}
}

func snapshotResults(copies []care.CheckedSnapshot) []snapshotResult {
	list := []snapshotResult{}
	for _, c := range copies {
		s := snapshotResult{Snapshot: c.Snapshot, Good: c.Fault == nil}
		if c.Version > 0 {
			s.Version = &c.Version
		}
		if c.Fault != nil {
			words := c.Fault.Error()
			s.Fault = &words
		}
		list = append(list, s)
	}
	return list
}

func (s snapshotResult) write(w io.Writer) {
	verdict, version := "good", "?"
	if s.Fault != nil {
		verdict = "cannot be used: " + oneLine(*s.Fault)
	}
	if s.Version != nil {
		version = fmt.Sprint(*s.Version)
	}
	fmt.Fprintf(w, "snapshot   %s  version %s  %d bytes  %s  %s\n", s.At, version, s.Bytes, oneLine(s.Name), verdict)
}
