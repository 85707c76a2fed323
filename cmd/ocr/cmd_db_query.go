package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"ocr/db"
	"ocr/internal/shell"
)

func dbQueryCommand(a *app) *command {
	fs := newFlags()
	asCSV := fs.Bool("csv", false, "print comma separated values with a header line")
	path := pathFlag(fs, "db", "read the database file `PATH` instead of the project's")
	c := &command{
		name:     "query",
		synopsis: "run one reading SQL statement",
		usage:    "SQL [--json | --csv] [--db PATH]",
		long: `Takes one SELECT, VALUES, WITH, EXPLAIN or reporting PRAGMA and changes nothing.
--json prints an array of objects whose keys stand in the order of the columns;
a second column of one name becomes name_2. A blob is the text x'...'. NULL is
null in JSON and empty otherwise. Only JSON keeps control characters as they are
stored; elsewhere they are shown as \x1b.`,
		example: "ocr db query 'SELECT id, current_phase FROM sessions' --json\nocr db query 'SELECT * FROM open_findings' --csv",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
		minArgs: 1,
		maxArgs: 1,
	}
	c.exec = func(ctx context.Context, args []string) error {
		if *asCSV && a.json {
			return c.usageError("%s prints --json or --csv, not both", c.path)
		}
		if err := db.ReadOnlyStatement(args[0]); err != nil {
			return err
		}
		file, err := a.databaseFile(*path)
		if err != nil {
			return err
		}
		result, err := runQuery(ctx, file, a.readOptions(file), args[0])
		if err != nil {
			return err
		}
		if *asCSV {
			return a.print(nil, result.writeCSV)
		}
		return a.print(result, result.writeText)
	}
	return c
}

// databaseFile is the file given with --db, else that of the project.
func (a *app) databaseFile(path string) (string, error) {
	if path == "" {
		p, err := a.project()
		return p.Database(), err
	}
	file := a.fromDir(path)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return "", &noSuchDatabase{file}
	}
	return file, nil
}

// dbFlag is what a command in a hint needs to act on the same file; "" for the
// project's.
func dbFlag(path, file string) string {
	if path == "" {
		return ""
	}
	return " --db " + shell.Quote(file)
}

// noSuchDatabase says that there is nothing at the path given with --db.
type noSuchDatabase struct {
	path string
}

func (e *noSuchDatabase) Error() string { return "there is no file " + e.path }

// runQuery collects the whole result: it is printed only once it is known to
// be one consistent view.
func runQuery(ctx context.Context, file string, opt db.Options, statement string) (table, error) {
	var result table
	var refusal error
	err := db.ReadUpgraded(ctx, file, opt, func(ctx context.Context, r *db.Reader) error {
		result, refusal = table{}, nil
		rows, err := r.Query(ctx, statement)
		if err == nil {
			err = errors.Join(result.fill(rows), rows.Close())
		}
		refusal = err
		return err
	})
	// A general error of the engine is one of the statement here.
	var store *db.Error
	if refusal != nil && errors.As(err, &store) && (store.Kind == db.KindInternal || store.Kind == db.KindSchema) && store.Err != nil {
		text := strings.TrimSuffix(strings.TrimPrefix(store.Err.Error(), "SQL logic error: "), " (1)")
		return result, &db.StatementError{Reason: text}
	}
	return result, err
}
