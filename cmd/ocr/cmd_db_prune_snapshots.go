package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/care"
)

// pruneSnapshotsResult is what prune-snapshots prints under --json.
type pruneSnapshotsResult struct {
	SchemaVersion int             `json:"schema_version"`
	DryRun        bool            `json:"dry_run"`
	Removed       []care.Snapshot `json:"removed"`
	Kept          []care.Snapshot `json:"kept"`
	Spared        *string         `json:"spared"` // kept only because it is the newest good one
}

func dbPruneSnapshotsCommand(a *app) *command {
	return snapshotsCommand(a, "prune-snapshots", "remove old snapshots of the database")
}

// dbPruneBackupsCommand is the same under the name that older scripts use.
func dbPruneBackupsCommand(a *app) *command {
	return snapshotsCommand(a, "prune-backups", "another name of prune-snapshots")
}

func snapshotsCommand(a *app, name, synopsis string) *command {
	fs := newFlags()
	keep := wholeNumber(fs, "keep", 0, "how many of the newest stay, `N` (1 if left out)")
	dryRun := fs.Bool("dry-run", false, "say what would go and change nothing")
	force := fs.Bool("force", false, "let the newest good snapshot go as well, where --keep does not spare it")
	c := &command{
		name:     name,
		synopsis: synopsis,
		usage:    "[--keep N] [--dry-run] [--force] [--json]",
		long: `Snapshots are the files ocr.db.bak.vN, ocr.db.bak.vN.TIME and those named after
doctor, vacuum or prune, with a time. Other files stay. The N newest stay, and so
does the newest one that can be read as a whole database, whatever N is, unless
--force is given. --keep 0 needs --force or --dry-run.`,
		example: "ocr db " + name + " --keep 3 --dry-run",
		exits:   []int{exitOK, exitEnvironment, exitUsage},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		opt := care.PruneSnapshotsOptions{Keep: 1, DryRun: *dryRun, Force: *force}
		if keep.Given {
			opt.Keep = keep.Value
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		done, err := care.PruneSnapshots(ctx, caller, opt)
		if err != nil {
			return err
		}
		result := pruneSnapshotsResult{schemaVersion, *dryRun, done.Removed, done.Kept, pathOrNull(done.Spared)}
		return a.print(result, func(w io.Writer) {
			verb := "removed"
			if *dryRun {
				verb = "would remove"
			}
			for _, s := range done.Removed {
				fmt.Fprintf(w, "%s  %s  %d bytes  %s\n", verb, s.At, s.Bytes, oneLine(s.Name))
			}
			for _, s := range done.Kept {
				why := ""
				if s.Name == done.Spared {
					why = "  (the newest good one)"
				}
				fmt.Fprintf(w, "kept  %s  %d bytes  %s%s\n", s.At, s.Bytes, oneLine(s.Name), why)
			}
			if len(done.Removed)+len(done.Kept) == 0 {
				fmt.Fprintln(w, "there are no snapshots")
			}
		})
	}
	return c
}
