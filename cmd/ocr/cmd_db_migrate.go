package main

import (
	"context"
	"errors"
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
	Altered       []string `json:"altered"` // not as expected, and left as it is
	Notes         []string `json:"notes"`
}

func dbMigrateCommand(a *app) *command {
	fs := newFlags()
	dryRun := fs.Bool("dry-run", false, "say what would be done, from a private copy, and change nothing")
	to := wholeNumber(fs, "to", 1, "stop at the schema version `N`")
	showSQL := fs.Bool("show-sql", false, "with --dry-run: print the SQL of each step")
	path := pathFlag(fs, "db", "with --dry-run: try the database file `PATH` instead of the project's")
	projectDir := pathFlag(fs, "project", "with --dry-run: the file belongs to the project at `DIR`, whose files the repair of sessions looks at")
	noSnapshot := fs.Bool("no-snapshot", false, "upgrade without keeping a copy of the file as it was")
	c := &command{
		name:     "migrate",
		synopsis: "bring the database to the schema of this program",
		usage:    "[--dry-run [--show-sql] [--db PATH] [--project DIR]] [--to N] [--no-snapshot] [--json]",
		long: `Every command that writes does so by itself; this one does only that. The file is
copied to ocr.db.bak.vN first, N being its version; if that cannot be done, nothing
is changed. Indexes, triggers and views that are missing are made again; altered
ones are named and left to ocr doctor --fix. On an up-to-date database nothing is
done.

--to N stops at a version from that of the file up; the next command that writes
goes on to the latest. --dry-run works on a private copy of the file, which may
lie anywhere and be read-only: it tells which steps would run, how long each
takes, which rows and objects it touches, and exits 1 if the upgrade would fail.
The upgrade to version 12 repairs sessions, and looks at their files for that: for a
copy that lies elsewhere, --project DIR names the project that it belongs to.`,
		example: "ocr db migrate\nocr db migrate --dry-run --show-sql --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if !*dryRun && (*showSQL || *path != "" || *projectDir != "") {
			return c.usageError("--show-sql, --db and --project go with --dry-run only")
		}
		var err error
		if *dryRun {
			err = a.rehearse(ctx, *path, *projectDir, int(to.Value), *showSQL)
		} else {
			err = a.migrate(ctx, to, *noSnapshot)
		}
		var target *db.TargetError
		if errors.As(err, &target) {
			return c.usageError("%v", target)
		}
		return err
	}
	return c
}

func (a *app) migrate(ctx context.Context, to *number, noSnapshot bool) error {
	caller, err := a.caller()
	if err != nil {
		return err
	}
	opt := caller.Options()
	opt.NoSnapshot = noSnapshot
	path := caller.Project.Database()
	var done db.Upgraded
	if to.Given {
		done, err = db.MigrateTo(ctx, path, int(to.Value), opt)
	} else {
		done, err = db.Migrate(ctx, path, opt)
	}
	if err != nil {
		return err
	}
	caller.KeepIgnored()
	result := migrateResult{
		SchemaVersion: schemaVersion, Path: path, From: done.From, To: done.To, Snapshot: pathOrNull(done.Snapshot),
		Restored: append([]string{}, done.Restored...), Altered: append([]string{}, done.Altered...), Notes: append([]string{}, done.Notes...),
	}
	return a.print(result, func(w io.Writer) {
		for _, line := range done.Lines(path) {
			fmt.Fprintln(w, oneLine(line))
		}
	})
}
