package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// quietTries is how often a reader hopes for a moment in which nobody writes;
// quietPause lies between two such copies of a file. After that the reader
// takes part in the writers' locking.
const (
	quietTries = 5
	quietPause = 5 * time.Millisecond
)

// clockTick is longer than the step in which systems count file times: two
// writes within one step leave the same time.
const clockTick = 10 * time.Millisecond

// viewer is what is done with a file that another process may be writing.
type viewer func(ctx context.Context, conn *sql.Conn) error

// view runs fn on one connection inside one read transaction.
func view(ctx context.Context, path string, fn viewer) error {
	return viewConn(ctx, path, inReadTransaction(fn))
}

func inReadTransaction(fn viewer) viewer {
	return func(ctx context.Context, conn *sql.Conn) (err error) {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		defer func() { err = join(err, rollback(ctx, conn)) }()
		return fn(ctx, conn)
	}
}

// viewConn runs fn on one connection that does not write to the file.
//
// Without side files the file is read as immutable: nobody's locks are
// needed and nothing is left behind. That is believed only if the file was
// still the same afterwards. With both side files of a writer it is read
// beside that writer. A log without its index, and a rollback journal, could
// only be replayed by writing: a private copy is read instead.
func viewConn(ctx context.Context, path string, fn viewer) error {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, err := lookAt(path)
		switch {
		case err != nil:
			return err
		case before.main.Size() == 0:
			err := emptyFileError(path, before)
			if after, lookErr := lookAt(path); lookErr == nil && after.same(before) {
				return err
			}
		case before.wal != nil && before.shm != nil, try > quietTries:
			return viewBeside(ctx, path, before, fn)
		case before.wal != nil, before.journal != nil:
			if done, err := viewCopy(ctx, path, before, fn); done {
				return err
			}
			if err := pause(ctx, quietPause); err != nil {
				return err
			}
		default:
			if err := pause(ctx, before.tooFresh()); err != nil {
				return err
			}
			err = connectAndRun(ctx, path, path, "mode=ro&immutable=1", fn)
			if after, lookErr := lookAt(path); lookErr == nil && after.same(before) {
				return err
			}
		}
	}
}

// emptyFileError judges a file of 0 bytes. Alone it is what a process leaves
// that died while creating the database: as good as none. Beside a log with
// content, or a snapshot, it is what remains of a database.
func emptyFileError(path string, now files) error {
	lost := lostError(path, "is empty (0 bytes)")
	if now.wal != nil && now.wal.Size() > 0 || now.journal != nil && now.journal.Size() > journalHeader {
		return lost
	}
	snapshots, err := Snapshots(path)
	if err != nil {
		return fileError(path, err)
	}
	if len(snapshots) > 0 {
		return lost
	}
	return noDatabaseError(path)
}

func lostError(path, what string) *Error {
	return &Error{
		Kind: KindCorrupt, Path: path,
		Message: fmt.Sprintf("%s %s, but files of an earlier database stand beside it", path, what),
		Hint:    "keep every file in that folder, copy them, and look for a snapshot " + filepath.Base(path) + snapshotMark + "*",
	}
}

// missingFileError refuses to create a database beside a log with content:
// the engine would drop the log, the last trace of a lost file. The log is
// looked at first, because a creator makes the file before the log.
func missingFileError(path string) error {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := lstat(path + suffix); KindOf(err) == KindUnreadable {
			return err
		}
	}
	log, err := os.Lstat(path + "-wal")
	if err != nil || log.Size() == 0 {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return lostError(path, "is missing")
	}
	return nil
}

// journalHeader is the size in bytes of a rollback journal that saved no
// page: all that creating a file needs.
const journalHeader = 512

// viewBeside reads while others may write. A reader that may not write the
// side files, or has no room for them, cannot repair them: it takes a copy.
func viewBeside(ctx context.Context, path string, before files, fn viewer) error {
	err := connectAndRun(ctx, path, path, "mode=ro", fn)
	if kind := KindOf(err); kind == KindReadOnly || kind == KindNoSpace {
		done, err := viewCopy(ctx, path, before, fn)
		if !done {
			return join(err, busyError(path, nil))
		}
		return err
	}
	return join(err, sweepSideFiles(ctx, path, before))
}

// sweepSideFiles removes the empty side files that reading has made when the
// last writer left, and took its own along, just before. Opening for writing
// and closing again is how SQLite itself removes them, and only if nobody
// else uses them: whoever keeps it busy removes them at its own end.
func sweepSideFiles(ctx context.Context, path string, before files) error {
	after, err := lookAt(path)
	if err != nil || after.wal == nil || after.wal.Size() > 0 || sameFile(before.wal, after.wal) {
		return err
	}
	err = connectAndRun(ctx, path, path, "mode=rw", func(ctx context.Context, conn *sql.Conn) error {
		var tables int
		return conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	})
	if KindOf(err) == KindBusy {
		return nil
	}
	return err
}

// viewCopy reads a private copy of the file and its logs. It is not done
// when the files changed meanwhile: such a copy may be torn.
func viewCopy(ctx context.Context, path string, before files, fn viewer) (done bool, err error) {
	dir, remove, err := privateDir()
	if err != nil {
		return true, copyError(path, err)
	}
	defer func() { err = join(err, remove()) }()
	target := filepath.Join(dir, "ocr.db")
	for _, suffix := range []string{"", "-wal", "-journal"} {
		err := copyFile(path+suffix, target+suffix)
		if err != nil && !(suffix != "" && os.IsNotExist(err)) {
			return true, copyError(path, err)
		}
	}
	if after, err := lookAt(path); err != nil || !after.same(before) {
		return false, err
	}
	return true, connectAndRun(ctx, path, target, "mode=rw", fn)
}

func copyError(path string, err error) error {
	if tooManyFiles(err) {
		return tooManyFilesError(path, err)
	}
	e := &Error{
		Kind: KindIO, Path: path, Err: err,
		Message: fmt.Sprintf("cannot make the private copy of %s that reading it needs", path),
		Hint:    fmt.Sprintf("make room in %s, or name another folder in TMPDIR", os.TempDir()),
	}
	if KindOf(fileError(path, err)) == KindNoSpace {
		e.Kind = KindNoSpace
	}
	return e
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// connectAndRun opens file, which is path or a copy of it, and runs fn on one
// connection that may not write to it.
func connectAndRun(ctx context.Context, path, file, mode string, fn viewer) (err error) {
	dsn, err := address(file, mode, settings(defaultWaits), "_pragma=query_only(1)")
	if err != nil {
		return fileError(path, err)
	}
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return engineError(path, err)
	}
	defer func() { err = engineError(path, join(err, pool.Close())) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = join(err, conn.Close()) }()
	return fn(ctx, conn)
}

// files are the database file and those beside it; nil where there is none.
type files struct{ main, wal, shm, journal fs.FileInfo }

// lookAt reads names, sizes and times, and opens nothing.
func lookAt(path string) (files, error) {
	var f files
	if err := checkLength(path); err != nil {
		return f, err
	}
	for _, part := range []struct {
		suffix string
		info   *fs.FileInfo
	}{{"", &f.main}, {"-wal", &f.wal}, {"-shm", &f.shm}, {"-journal", &f.journal}} {
		info, err := lstat(path + part.suffix)
		switch {
		case err == nil:
			*part.info = info
		case part.suffix == "" || !isAbsent(err):
			return f, mainError(path, err)
		}
	}
	// A journal without content is how some programs end a transaction.
	if f.journal != nil && f.journal.Size() == 0 {
		f.journal = nil
	}
	return f, nil
}

// mainError says what is wrong with the database file, or with a file beside it.
func mainError(path string, err error) error {
	if dangling := danglingError(path); dangling != nil {
		return dangling
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return directoryError(path)
	}
	return fileError(path, err)
}

// tooFresh is how long to wait until the next write shows in the file's time.
func (f files) tooFresh() time.Duration {
	age := time.Since(f.main.ModTime())
	if age < 0 {
		return 0
	}
	return clockTick - age
}

// same says that nothing was written in between.
func (f files) same(g files) bool {
	return sameFile(f.main, g.main) && sameFile(f.wal, g.wal) && sameFile(f.journal, g.journal) &&
		(f.shm == nil) == (g.shm == nil)
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
