package main

import (
	"context"
	"fmt"
	"io"

	"ocr/db"
)

// migrateResult is what migrate prints under --json.
type migrateResult struct {
	SchemaVersion int      `json:"schema_version"`
	Path          string   `json:"path"`
	From          int      `json:"from"` // versions of the database schema
	To            int      `json:"to"`
	Snapshot      *string  `json:"snapshot"` // null without one
	Restored      []string `json:"restored"`
	Notes         []string `json:"notes"`
}

func dbMigrateCommand(a *app) *command {
	fs := newFlags()
	noSnapshot := fs.Bool("no-snapshot", false, "upgrade without keeping a copy of the file as it was")
	return &command{
		name:     "migrate",
		synopsis: "bring the database to the schema of this program",
		usage:    "[--no-snapshot] [--json]",
		long: `Every command that writes does so by itself; this one does only that. The file is
copied to ocr.db.bak.vN first, N being its version; if that cannot be done, nothing
is changed. Indexes, triggers and views that are missing are made again. On an
up-to-date database nothing is done.`,
		example: "ocr db migrate",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			opt := caller.Options()
			opt.NoSnapshot = *noSnapshot
			path := caller.Project.Database()
			done, err := db.Migrate(ctx, path, opt)
			if err != nil {
				return err
			}
			result := migrateResult{
				SchemaVersion: schemaVersion, Path: path, From: done.From, To: done.To,
				Restored: append([]string{}, done.Restored...), Notes: append([]string{}, done.Notes...),
			}
			if done.Snapshot != "" {
				result.Snapshot = &done.Snapshot
			}
			return a.print(result, func(w io.Writer) {
				for _, line := range done.Lines(path) {
					fmt.Fprintln(w, oneLine(line))
				}
			})
		},
	}
}
