package db

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// ProbeResult is what the engine says about itself.
type ProbeResult struct {
	// SQLite is the version of the engine, Driver that of the Go module.
	SQLite, Driver string
	// CompileOptions are all options the engine was built with.
	CompileOptions []string
	// Settings are read back from a connection made as every other.
	Settings ProbeSettings
	// Wrote says that a file was made in Dir, written, closed, and read
	// back; false when the probe was not asked to.
	Wrote bool
	// Dir is the folder the file was made in; it is gone afterwards.
	Dir string
}

// ProbeSettings are the settings of one connection.
type ProbeSettings struct {
	// JournalMode is "wal" for a file, "memory" without one.
	JournalMode string
	ForeignKeys bool
	// BusyTimeout is in milliseconds.
	BusyTimeout int
	// Synchronous is 1 for NORMAL.
	Synchronous int
}

// Probe tries the engine, without any project. With write it makes a database
// in a new folder below dir (below the system's folder for temporary files if
// dir is empty), switches it to write-ahead logging, writes, closes, and
// reads back; the folder is removed. Without write it works in memory.
func Probe(ctx context.Context, dir string, write bool) (result ProbeResult, err error) {
	result.Driver = driverVersion()
	if !write {
		err := probeMemory(ctx, &result)
		return result, engineError("(in memory)", err)
	}
	if dir == "" {
		dir = os.TempDir()
	}
	result.Dir = dir
	made, err := os.MkdirTemp(dir, "ocr-probe-")
	if err != nil {
		return result, writeFileError(dir, err)
	}
	defer func() { err = join(err, os.RemoveAll(made)) }()
	path := filepath.Join(made, "ocr.db")
	if err := probeWrite(ctx, path, &result); err != nil {
		return result, engineError(path, err)
	}
	result.Wrote = true
	return result, nil
}

func probeMemory(ctx context.Context, result *ProbeResult) (err error) {
	pool, err := sql.Open("sqlite", "file::memory:?"+settings(defaultWaits))
	if err != nil {
		return err
	}
	defer func() { err = join(err, pool.Close()) }()
	pool.SetMaxOpenConns(1)
	return probeFacts(ctx, pool, result)
}

func probeFacts(ctx context.Context, pool *sql.DB, result *ProbeResult) error {
	set := &result.Settings
	var options string
	err := pool.QueryRowContext(ctx, `
SELECT
    sqlite_version(),
    (SELECT group_concat(compile_options, char(10)) FROM pragma_compile_options),
    (SELECT journal_mode FROM pragma_journal_mode),
    (SELECT foreign_keys FROM pragma_foreign_keys),
    (SELECT timeout FROM pragma_busy_timeout),
    (SELECT synchronous FROM pragma_synchronous)`).Scan(
		&result.SQLite, &options, &set.JournalMode, &set.ForeignKeys, &set.BusyTimeout, &set.Synchronous)
	result.CompileOptions = strings.Split(options, "\n")
	return err
}

// probeWrite writes through one connection and reads through the next.
func probeWrite(ctx context.Context, path string, result *ProbeResult) error {
	o := newOpener(path, Options{})
	store, err := o.connect("rwc")
	if err != nil {
		return err
	}
	err = store.on(ctx, func(conn *sql.Conn) error {
		if err := o.setWAL(ctx, conn); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, "CREATE TABLE probe (word TEXT NOT NULL); INSERT INTO probe VALUES ('written')")
		return err
	})
	if err := join(err, store.Close()); err != nil {
		return err
	}
	again, err := o.connect("rw")
	if err != nil {
		return err
	}
	var word string
	err = probeFacts(ctx, again.pool, result)
	if err == nil {
		err = again.pool.QueryRowContext(ctx, "SELECT word FROM probe").Scan(&word)
	}
	if err := join(err, again.Close()); err != nil {
		return err
	}
	if word != "written" || result.Settings.JournalMode != "wal" {
		return &Error{
			Kind: KindIO, Path: path,
			Message: fmt.Sprintf("read back %q in journal mode %q, not what was written", word, result.Settings.JournalMode),
			Hint:    "check the disk and the mount",
		}
	}
	return nil
}

// driverVersion is the version of the driver module in this program.
func driverVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == "modernc.org/sqlite" {
			return dep.Version
		}
	}
	return ""
}
