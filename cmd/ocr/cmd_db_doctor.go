package main

import (
	"context"
	"fmt"
	"io"

	"ocr/db"
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
}

// orphanRows are the rows of a table that refer to something that is gone.
type orphanRows struct {
	Table string `json:"table"`
	Count int64  `json:"count"`
}

func dbDoctorCommand(a *app) *command {
	fs := newFlags()
	path := fs.String("db", "", "examine the database file `PATH` instead of the project's")
	return &command{
		name:     "doctor",
		synopsis: "report on the integrity of the database",
		usage:    "[--db PATH] [--json]",
		long: `Runs the engine's own check and counts rows that refer to something that is gone,
and documents that are stored twice. Rows of sessions, orchestration_events and
command_executions are listed apart: no repair deletes them. Changes nothing; what
it finds does not change the exit code.`,
		example: "ocr db doctor --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			file, err := a.databaseFile(*path)
			if err != nil {
				return err
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
			}
			return a.print(result, func(w io.Writer) { healthText(w, result) })
		},
	}
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
}
