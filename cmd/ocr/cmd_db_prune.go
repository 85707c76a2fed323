package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/care"
)

// pruneResult is what prune prints under --json.
type pruneResult struct {
	SchemaVersion int                      `json:"schema_version"`
	DryRun        bool                     `json:"dry_run"`
	Sessions      []string                 `json:"sessions"`
	Unreadable    []care.UnreadableSession `json:"unreadable"`
	Removed       []care.TableCount        `json:"removed"`
	Kept          []care.TableCount        `json:"kept"`
	Snapshot      *string                  `json:"snapshot"` // null when nothing went
}

func dbPruneCommand(a *app) *command {
	fs := newFlags()
	olderThan := wholeNumber(fs, "older-than", 0, "take closed sessions whose last event lies at least `DAYS` full days back")
	keepSessions := wholeNumber(fs, "keep-sessions", 0, "spare the `N` newest closed sessions")
	includeUserData := fs.Bool("include-user-data", false, "also remove triage, notes and conversations that hang on what goes")
	dryRun := fs.Bool("dry-run", false, "say what would go and change nothing")
	force := fs.Bool("force", false, "go on beside a dashboard and other users of the file")
	c := &command{
		name:     "prune",
		synopsis: "remove what closed sessions left in the tables for readers",
		usage:    "--older-than DAYS | --keep-sessions N [--dry-run] [--include-user-data] [--force] [--json]",
		long: `Removes rounds, maps and stored texts of closed sessions: all of it is derived
from the files of the session, which stay. Sessions, events and process rows
always stay. What a person wrote (triage, notes, conversations) stays, and so
does what it hangs on, unless --include-user-data is given; notes on a session
stay in any case. With both flags a session must fit both. A session whose last
time is unreadable is left alone and listed. The file is copied to
ocr.db.bak.prune.TIME first; with nothing to remove, nothing is written. The room
is free afterwards for new rows; ocr db vacuum returns it to the disk.`,
		example: "ocr db prune --older-than 90 --dry-run\nocr db prune --keep-sessions 50",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if !olderThan.Given && !keepSessions.Given {
			return c.usageError("%s needs --older-than or --keep-sessions", c.path)
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		opt := care.PruneOptions{IncludeUserData: *includeUserData, DryRun: *dryRun, Force: *force}
		if olderThan.Given {
			opt.OlderThanDays = &olderThan.Value
		}
		if keepSessions.Given {
			opt.KeepSessions = &keepSessions.Value
		}
		done, err := care.Prune(ctx, caller, opt)
		if err != nil {
			return err
		}
		result := pruneResult{
			schemaVersion, *dryRun, done.Sessions, done.Unreadable, done.Removed, done.Kept, pathOrNull(done.Snapshot),
		}
		return a.print(result, func(w io.Writer) { writePruned(w, done, *dryRun) })
	}
	return c
}

func writePruned(w io.Writer, done care.Pruned, dryRun bool) {
	verb := "removed"
	if dryRun {
		verb = "would remove"
	}
	fmt.Fprintf(w, "closed sessions that hold artifacts and fit: %d\n", len(done.Sessions))
	for _, t := range done.Removed {
		fmt.Fprintf(w, "%s  %d rows of %s\n", verb, t.Rows, t.Table)
	}
	if len(done.Removed) == 0 {
		fmt.Fprintln(w, "nothing to remove")
	}
	for _, t := range done.Kept {
		fmt.Fprintf(w, "kept  %d rows of %s: somebody wrote them, or on them\n", t.Rows, t.Table)
	}
	for _, s := range done.Unreadable {
		fmt.Fprintf(w, "left alone  session %s: its last time %q is none\n", oneLine(s.SessionID), s.LastAt)
	}
	if done.Snapshot != "" {
		fmt.Fprintf(w, "copied before to %s\n", oneLine(done.Snapshot))
	}
}
