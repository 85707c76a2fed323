package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/care"
	"ocr/internal/shell"
)

// restoreResult is what restore prints under --json.
type restoreResult struct {
	SchemaVersion int     `json:"schema_version"`
	Path          string  `json:"path"`
	Snapshot      string  `json:"snapshot"`
	Version       int     `json:"version"`   // of the schema of the restored database
	SetAside      *string `json:"set_aside"` // what was there before; null for nothing
	Undo          *string `json:"undo"`      // the command that takes it back; null if it is damaged
}

func dbRestoreCommand(a *app) *command {
	c := &command{
		name:     "restore",
		synopsis: "put a snapshot in the place of the database",
		usage:    "SNAPSHOT [--json]",
		long: `SNAPSHOT is a file name that ocr db snapshots lists, or the path of a copy. It is
checked first and stays as it is. What was the database is kept as
ocr.db.bak.restore.TIME, a snapshot like any other; restoring that one undoes
this. A damaged database is kept with its logs as ocr.db.damaged.TIME. While a
dashboard runs, or another process has the database open, nothing is done (6). A
snapshot of an earlier version is upgraded by the next command that writes.`,
		example: "ocr db restore ocr.db.bak.v14",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant, exitBusy},
		minArgs: 1,
		maxArgs: 1,
	}
	c.exec = func(ctx context.Context, args []string) error {
		if args[0] == "" {
			return c.usageError("%s needs the name of a snapshot", c.path)
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		snapshot := care.FindSnapshot(caller, a.dir, args[0])
		done, err := care.Restore(ctx, caller, snapshot)
		if err != nil {
			return err
		}
		result := restoreResult{
			SchemaVersion: schemaVersion, Path: caller.Project.Database(), Snapshot: snapshot,
			Version: done.Version, SetAside: pathOrNull(done.SetAside),
		}
		if done.Whole {
			undo := "ocr db restore " + shell.Quote(done.SetAside)
			result.Undo = &undo
		}
		return a.print(result, result.write)
	}
	return c
}

func (r restoreResult) write(w io.Writer) {
	fmt.Fprintf(w, "restored %s from %s (schema version %d)\n", oneLine(r.Path), oneLine(r.Snapshot), r.Version)
	switch {
	case r.SetAside == nil:
		fmt.Fprintln(w, "there was no database before")
	case r.Undo == nil:
		fmt.Fprintf(w, "the damaged database of before is kept as %s\n", oneLine(*r.SetAside))
	default:
		fmt.Fprintf(w, "the database of before is kept as %s\nto undo: %s\n", oneLine(*r.SetAside), oneLine(*r.Undo))
	}
}
