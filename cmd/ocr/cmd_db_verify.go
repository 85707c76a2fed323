package main

import (
	"context"
	"path/filepath"

	"ocr/db"
	"ocr/internal/doctor"
)

// verifyChecks are the checks of doctor that verify makes.
var verifyChecks = []string{"schema", "data.integrity", "data.foreign_keys"}

func dbVerifyCommand(a *app) *command {
	fs := newFlags()
	path := pathFlag(fs, "db", "check the database file `PATH` instead of the project's")
	return &command{
		name:     "verify",
		synopsis: "check that the database is whole and has the expected schema",
		usage:    "[--db PATH] [--json]",
		long: `Makes the checks of ocr doctor that concern the file itself: both ledgers, every
table, column, index, trigger and view, the integrity of all pages, and rows that
refer to something that is gone. Exit 0 means sound, warnings included; 1 that a
check failed or could not be made. The report is that of ocr doctor.`,
		example: "ocr db verify\nocr db verify --db saved.db",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			file, err := a.databaseFile(*path)
			if err != nil {
				return err
			}
			// What else keeps the file from being read stands in the report.
			err = db.Inspect(ctx, file, func(context.Context, *db.Reader) error { return nil })
			if db.KindOf(err) == db.KindNoDatabase {
				return err
			}
			request, err := a.doctorRequest()
			if err != nil {
				return err
			}
			request.Only = verifyChecks
			if *path != "" {
				if request.Database, err = filepath.Abs(file); err != nil {
					return err
				}
			}
			report, err := doctor.Run(ctx, request)
			if err != nil {
				return err
			}
			return a.printReport(newDoctorResult(report), report, report.Err(false))
		},
	}
}
