package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"ocr/db"
	"ocr/internal/care"
)

// healthResult is what db doctor prints under --json. Its keys are those of
// the programs that share the database.
type healthResult struct {
	SchemaVersion         int          `json:"schema_version"`
	IntegrityOK           bool         `json:"integrityOk"`
	IntegrityErrors       []string     `json:"integrityErrors"`
	FKViolations          []orphanRows `json:"fkViolations"`
	ProtectedFKViolations []orphanRows `json:"protectedFkViolations"`
	TotalFKViolations     int64        `json:"totalFkViolations"`
	MarkdownDuplicateRows int64        `json:"markdownDuplicateRows"`
	EventCount            int64        `json:"eventCount"`
	SessionCount          int64        `json:"sessionCount"`
	// With --fix, after which the counts above were made.
	Deleted  map[string]int64 `json:"deleted,omitempty"`
	Snapshot string           `json:"snapshot,omitempty"`
	// Refused are the first of the rows that --fix did not delete,
	// RefusedOmitted how many more there are.
	Refused        []refusedRow `json:"refused,omitempty"`
	RefusedOmitted int64        `json:"refused_omitted,omitempty"`
}

// refusedRow is one row that refers to something that is gone, and stays.
type refusedRow struct {
	Table     string `json:"table"`
	RowID     *int64 `json:"row_id"` // null in a table without one
	MissingIn string `json:"missing_in"`
}

// orphanRows are the rows of a table that refer to something that is gone.
type orphanRows struct {
	Table string `json:"table"`
	Count int64  `json:"count"`
}

func dbDoctorCommand(a *app) *command {
	fs := newFlags()
	path := pathFlag(fs, "db", "examine the database file `PATH` instead of the project's")
	fix := fs.Bool("fix", false, "delete the artifact rows that refer to something that is gone")
	noSnapshot := fs.Bool("no-snapshot", false, "with --fix, make no copy of the file first")
	force := fs.Bool("force", false, "with --fix, go on beside a running dashboard")
	c := &command{
		name:     "doctor",
		synopsis: "report on the integrity of the database",
		usage:    "[--db PATH | --fix [--no-snapshot] [--force]] [--json]",
		long: `Runs the engine's own check and counts rows that refer to something that is gone,
and documents that are stored twice. Rows of sessions, orchestration_events and
command_executions are listed apart: no repair deletes them. A report changes
nothing, and what it finds does not change the exit code. --fix copies the file to
ocr.db.bak.doctor.TIME and then deletes such artifact rows; what people wrote, and
what that hangs on, stays and is listed as refused. While a dashboard runs it does nothing (6).`,
		example: "ocr db doctor --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if *fix && *path != "" {
			return c.usageError("%s takes --fix or --db, not both", c.path)
		}
		if !*fix && (*noSnapshot || *force) {
			return c.usageError("%s: --no-snapshot and --force belong to --fix", c.path)
		}
		file, err := a.databaseFile(*path)
		if err != nil {
			return err
		}
		var repaired care.Repaired
		if *fix {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			repaired, err = care.Repair(ctx, caller, care.RepairOptions{NoSnapshot: *noSnapshot, Force: *force})
			if err != nil {
				return err
			}
		}
		health, err := db.ReadHealth(ctx, file, a.readOptions(file))
		if err != nil {
			return err
		}
		result := healthResult{
			SchemaVersion: schemaVersion,
			IntegrityOK:   len(health.IntegrityErrors) == 0, IntegrityErrors: health.IntegrityErrors,
			FKViolations: orphans(health.Orphans), ProtectedFKViolations: orphans(health.ProtectedOrphans),
			TotalFKViolations:     health.TotalOrphans(),
			MarkdownDuplicateRows: health.MarkdownDuplicates,
			EventCount:            health.Events, SessionCount: health.Sessions,
			Deleted: repaired.Deleted, Snapshot: repaired.Snapshot,
		}
		if *fix {
			for _, row := range health.OrphanRows {
				result.Refused = append(result.Refused, refusedRow{row.Table, row.ID, row.Missing})
			}
			result.RefusedOmitted = result.TotalFKViolations - int64(len(result.Refused))
		}
		return a.print(result, func(w io.Writer) { healthText(w, result) })
	}
	return c
}

func orphans(tables []db.OrphanCount) []orphanRows {
	rows := []orphanRows{}
	for _, table := range tables {
		rows = append(rows, orphanRows{table.Table, table.Rows})
	}
	return rows
}

func healthText(w io.Writer, result healthResult) {
	verdict := "sound"
	if !result.IntegrityOK {
		verdict = "damaged"
	}
	fmt.Fprintf(w, "integrity        %s\n", verdict)
	for _, line := range result.IntegrityErrors {
		fmt.Fprintf(w, "                 %s\n", oneLine(line))
	}
	fmt.Fprintf(w, "dangling rows    %d\n", result.TotalFKViolations)
	for _, table := range append(result.ProtectedFKViolations, result.FKViolations...) {
		fmt.Fprintf(w, "                 %d in %s\n", table.Count, oneLine(table.Table))
	}
	fmt.Fprintf(w, "double texts     %d\n", result.MarkdownDuplicateRows)
	fmt.Fprintf(w, "sessions         %d\n", result.SessionCount)
	fmt.Fprintf(w, "events           %d\n", result.EventCount)
	for _, table := range slices.Sorted(maps.Keys(result.Deleted)) {
		fmt.Fprintf(w, "deleted          %d of %s\n", result.Deleted[table], table)
	}
	for _, row := range result.Refused {
		id := "a row"
		if row.RowID != nil {
			id = fmt.Sprintf("row %d", *row.RowID)
		}
		fmt.Fprintf(w, "refused          %s of %s, without its %s\n", id, oneLine(row.Table), oneLine(row.MissingIn))
	}
	if result.RefusedOmitted > 0 {
		fmt.Fprintf(w, "                 and %d more\n", result.RefusedOmitted)
	}
	if len(result.Refused) > 0 {
		fmt.Fprintln(w, "next: ocr db query 'PRAGMA foreign_key_check'")
	}
	if result.Snapshot != "" {
		fmt.Fprintf(w, "copied before    %s\n", oneLine(result.Snapshot))
	}
}
