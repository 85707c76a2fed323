package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"ocr/internal/care"
)

// snapshotTaken is what snapshot prints under --json.
type snapshotTaken struct {
	SchemaVersion int    `json:"schema_version"`
	Snapshot      string `json:"snapshot"` // the path
	Bytes         int64  `json:"bytes"`
}

func dbSnapshotCommand(a *app) *command {
	fs := newFlags()
	name := fs.String("name", "manual", "what the copy is for, `NAME`: letters, digits, dashes and underscores")
	return &command{
		name:     "snapshot",
		synopsis: "keep a copy of the database beside it",
		usage:    "[--name NAME] [--json]",
		long: `The copy is called ocr.db.bak.NAME.TIME. It is consistent also while others write,
it is checked before it gets its name, and it replaces nothing. prune-snapshots
leaves it alone; ocr db restore puts it in the place of the database.`,
		example: "ocr db snapshot --name before-the-change",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			path, err := care.TakeSnapshot(ctx, caller, *name)
			if err != nil {
				return err
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			result := snapshotTaken{schemaVersion, path, info.Size()}
			return a.print(result, func(w io.Writer) { fmt.Fprintf(w, "kept %s, %d bytes\n", oneLine(path), info.Size()) })
		},
	}
}
