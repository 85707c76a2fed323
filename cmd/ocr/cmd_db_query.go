package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"ocr/db"
	"ocr/internal/shell"
)

// Without flags a statement may print this many rows and take this long.
const (
	defaultRows      = 10_000
	defaultQueryTime = 30 * time.Second
)

func dbQueryCommand(a *app) *command {
	fs := newFlags()
	limit := wholeNumber(fs, "limit", 0, "print at most `N` rows, 0 for all (10000 if left out)")
	limit.Value = defaultRows
	timeout := timeFlag(fs, "timeout", defaultQueryTime, "end after the `TIME`, such as 90s or 5m; 0 for never (30s if left out)")
	asCSV := fs.Bool("csv", false, "print comma separated values with a header line")
	path := pathFlag(fs, "db", "read the database file `PATH` instead of the project's")
	c := &command{
		name:     "query",
		synopsis: "run one reading SQL statement",
		usage:    "SQL|- [--json | --csv] [--limit N] [--timeout TIME] [--db PATH]",
		long: `Takes one SELECT, VALUES, WITH, EXPLAIN or reporting PRAGMA and changes nothing.
--json prints an array of objects whose keys stand in the order of the columns;
a second column of one name becomes name_2. A blob is the text x'...'. NULL is
null in JSON and empty otherwise. Only JSON keeps control characters as they are
stored; elsewhere they are shown as \x1b.

"-" reads the statement from stdin. Where there are more rows than --limit takes,
stderr says so and the result is the first ones: whoever must know gives a --limit
and counts. The result is printed once it is complete: a statement that fails, or
takes longer than --timeout (1, kind timeout), prints no row. Memory does not grow
with the number of rows; a long result waits in the temporary folder. One text or
blob has at most 33 MiB.`,
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
		statement, err := a.statement(ctx, c, args[0])
		if err != nil {
			return err
		}
		if err := db.ReadOnlyStatement(statement); err != nil {
			return err
		}
		file, err := a.databaseFile(*path)
		if err != nil {
			return err
		}
		bounded, cancel := ctx, context.CancelFunc(func() {})
		if *timeout > 0 {
			bounded, cancel = context.WithTimeout(ctx, *timeout)
		}
		defer cancel()
		cut := false
		err = a.spool(func(out *spool) (err error) {
			var rows rowWriter = &textRows{out: out}
			switch {
			case a.json:
				rows = &jsonRows{out: out}
			case *asCSV:
				rows = &csvRows{out: out}
			}
			cut, err = runQuery(bounded, file, a.readOptions(file), statement, limit.Value, rows)
			if err != nil && bounded.Err() != nil && ctx.Err() == nil {
				return &timeoutError{*timeout}
			}
			return err
		})
		if err == nil && cut {
			a.note("note: these are the first %d rows, there are more: --limit N prints more of them, --limit 0 all", limit.Value)
		}
		return err
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

// runQuery hands the rows of the statement, at most limit of them, to w, and
// says whether there are more. Where another process writes meanwhile, it may
// begin again.
func runQuery(ctx context.Context, file string, opt db.Options, statement string, limit int64, w rowWriter) (cut bool, err error) {
	var refusal error
	err = db.ReadUpgraded(ctx, file, opt, func(ctx context.Context, r *db.Reader) error {
		refusal = nil
		rows, err := r.Query(ctx, statement)
		if err == nil {
			cut, err = writeRows(rows, limit, w)
			err = errors.Join(err, rows.Close())
		}
		refusal = err
		return err
	})
	// A general error of the engine is one of the statement here.
	var store *db.Error
	if refusal != nil && errors.As(err, &store) && (store.Kind == db.KindInternal || store.Kind == db.KindSchema) && store.Err != nil {
		text := strings.TrimSuffix(strings.TrimPrefix(store.Err.Error(), "SQL logic error: "), " (1)")
		return false, &db.StatementError{Reason: text}
	}
	return cut, err
}

// maxStatement bounds in bytes what is read of a statement.
const maxStatement = 1 << 20

// statement is the argument, or for "-" what stdin holds.
func (a *app) statement(ctx context.Context, c *command, argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	text, err := unlessStopped(ctx, func() ([]byte, error) {
		return io.ReadAll(io.LimitReader(a.stdin, maxStatement+1))
	})
	if err != nil {
		return "", fmt.Errorf("reading the statement: %w", err)
	}
	if len(text) > maxStatement {
		return "", c.usageError("the statement on stdin is longer than %d bytes", maxStatement)
	}
	return string(bytes.TrimPrefix(text, []byte("\ufeff"))), nil
}

// timeoutError says that a statement took too long.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the statement was not done after %s and was ended; nothing is printed of it", e.limit)
}
