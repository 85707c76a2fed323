package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// KindInUse: another process has the database open.
const KindInUse Kind = "in_use"

// KindSameFile: the snapshot is the database itself.
const KindSameFile Kind = "same_file"

// Restored says what RestoreSnapshot has done.
type Restored struct {
	// Version is the schema version of the restored database.
	Version int
	// SetAside is the path under which the database of before is kept; empty
	// when there was none. Whole says that it is a snapshot, which can be
	// restored in turn; else it is damaged, and stands there with its logs as
	// it was.
	SetAside string
	Whole    bool
}

// RestoreSnapshot puts a copy of the file snapshot in the place of the
// database at path, and keeps what was there. The snapshot stays as it is. It
// is refused with what CheckSnapshot says, and with KindInUse while another
// process has the database open.
//
// Whenever the process dies, the name of the database belongs either to the
// old one or to the new one, each with no log but its own:
//
//  1. The copy is made under a passing name, checked, and put on the disk.
//  2. A sound database is locked, its log is put into it, and it gets a
//     rollback journal: it is one file then. Whoever waited to open it finds
//     that it has moved, and writes nothing.
//  3. It is kept as a snapshot.
//  4. The copy takes the name of the database, in one step.
//
// A damaged one cannot be locked and copied. Instead of 2 and 3, all its files
// get second names. If there is a log, a note that explains takes the name of
// the database before the names of the logs go: with the name of a log beside
// it, the copy would be spoiled.
func RestoreSnapshot(ctx context.Context, path, snapshot string) (Restored, error) {
	return newOpener(path, Options{}).restoreSnapshot(ctx, snapshot)
}

func (o opener) restoreSnapshot(ctx context.Context, snapshot string) (done Restored, err error) {
	if err := o.mayReplace(snapshot); err != nil {
		return done, err
	}
	if done.Version, err = CheckSnapshot(ctx, snapshot); err != nil {
		return done, err
	}
	if err := os.MkdirAll(filepath.Dir(o.path), 0o755); err != nil {
		return done, writeFileError(o.path, err)
	}
	unlock, err := o.lock(ctx)
	if err != nil {
		return done, err
	}
	defer func() { err = writeFileError(o.path, join(err, unlock())) }()
	passing := o.path + ".restore.partial"
	defer func() { err = join(err, o.removePassing(passing)) }()
	if err := o.fetch(ctx, snapshot, passing); err != nil {
		return done, err
	}
	if _, err := o.checkCopy(ctx, passing); err != nil {
		return done, err
	}
	sound, err := o.sound(ctx)
	switch {
	case err != nil:
		return done, err
	case sound:
		done.SetAside, err = o.replaceSound(ctx, passing)
		done.Whole = true
	default:
		done.SetAside, err = o.replaceDamaged(passing)
	}
	if err != nil {
		return done, err
	}
	return done, o.wantVersion(ctx, done.Version)
}

// mayReplace refuses a database that is no plain file, and a snapshot that is
// the database.
func (o opener) mayReplace(snapshot string) error {
	info, err := os.Lstat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(o.path, err)
	case !info.Mode().IsRegular():
		return &Error{
			Kind: KindUnreadable, Path: o.path,
			Message: fmt.Sprintf("%s is not a plain file, so nothing can be put in its place", o.path),
			Hint:    "look what it is, and move it elsewhere",
		}
	}
	if other, err := os.Stat(snapshot); err == nil && os.SameFile(info, other) {
		return &Error{
			Kind: KindSameFile, Path: o.path,
			Message: fmt.Sprintf("%s is the database itself", snapshot),
			Hint:    "name a snapshot: ocr db snapshots lists them",
		}
	}
	return nil
}

// fetch copies the snapshot to target, with the rights of the database.
func (o opener) fetch(ctx context.Context, snapshot, target string) error {
	if err := o.removePassing(target); err != nil {
		return err
	}
	source := o
	source.path = snapshot
	if _, err := source.copyPrivately(ctx, target); err != nil {
		return err
	}
	if info, err := os.Stat(o.path); err == nil {
		if err := os.Chmod(target, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return o.disk.sync(target)
}

// sound says whether the engine can read the whole database, so that it can be
// kept as a snapshot. One that nobody may read is an error.
func (o opener) sound(ctx context.Context) (bool, error) {
	err := view(ctx, o.path, func(ctx context.Context, conn *sql.Conn) error {
		faults, err := names(ctx, conn, "PRAGMA quick_check(1)")
		if err == nil && (len(faults) != 1 || faults[0] != "ok") {
			return &Error{Kind: KindCorrupt, Path: o.path, Message: some(faults)}
		}
		if err == nil {
			_, err = recordedVersion(ctx, conn)
		}
		return err
	})
	switch KindOf(err) {
	case KindCorrupt, KindNotADatabase, KindNoDatabase, KindSchema, KindInternal:
		return false, nil
	}
	return err == nil, err
}

// replaceSound keeps the database as a snapshot and gives its name to the file
// of the passing name, while nobody else has it open.
func (o opener) replaceSound(ctx context.Context, passing string) (kept string, err error) {
	alone, err := o.alone(ctx)
	if err != nil {
		return "", err
	}
	err = alone.on(ctx, func(conn *sql.Conn) error {
		kept, err = o.snapshot(ctx, conn, func(int) []string { return []string{stamped("restore")} })
		if err == nil {
			err = o.noLogs()
		}
		if err == nil && runtime.GOOS != "windows" {
			err = o.takeName(passing)
		}
		return err
	})
	if err := join(err, alone.Close()); err != nil {
		return kept, err
	}
	// Windows replaces no file that is open, whoever has it open.
	if runtime.GOOS == "windows" {
		err = o.takeName(passing)
	}
	return kept, err
}

// alone opens the database so that nobody else can until it is closed, as one
// file without a log.
func (o opener) alone(ctx context.Context) (*Store, error) {
	const pause = 50 * time.Millisecond
	o.waits = waits{pause: pause, retries: int(holderWait / pause), total: o.waits.total}
	store, err := o.connect("rw")
	if err != nil {
		return nil, err
	}
	err = store.on(ctx, func(conn *sql.Conn) error {
		// A log cannot be put away while others use it. In this order no
		// journal is left, and from the last statement on the lock is kept.
		for _, statement := range []string{"PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE; ROLLBACK"} {
			err := o.waits.retry(ctx, o.path, func(ctx context.Context) error {
				_, err := conn.ExecContext(ctx, statement)
				return err
			})
			if err != nil {
				return err
			}
		}
		var mode string
		err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
		if err == nil && mode != "delete" {
			err = inUseError(o.path, fmt.Errorf("it went back to journal mode %s", mode))
		}
		return err
	})
	if err == nil {
		return store, nil
	}
	if KindOf(err) == KindBusy {
		err = inUseError(o.path, err)
	}
	return nil, join(err, store.Close())
}

func inUseError(path string, err error) *Error {
	return &Error{
		Kind: KindInUse, Path: path, Err: err,
		Message: fmt.Sprintf("another process has %s open", path),
		Hint:    "end it, then run the same command again",
	}
}

// logs are the names of files that the engine would read along with a
// database of that path.
func (o opener) logs() (found []string, err error) {
	for _, suffix := range []string{"-wal", "-journal", "-shm"} {
		_, err := os.Lstat(o.path + suffix)
		switch {
		case err == nil:
			found = append(found, suffix)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return found, nil
}

func (o opener) noLogs() error {
	logs, err := o.logs()
	if err == nil && len(logs) > 0 {
		err = inUseError(o.path, fmt.Errorf("%s has come back", o.path+logs[0]))
	}
	return err
}

func (o opener) takeName(passing string) error {
	if err := o.disk.rename(passing, o.path); err != nil {
		return err
	}
	return o.disk.sync(filepath.Dir(o.path))
}

// replaceDamaged gives the files of a damaged database second names, takes
// those of its logs away, and gives its name to the file of the passing name.
func (o opener) replaceDamaged(passing string) (kept string, err error) {
	if len(Holders(o.path)) > 0 {
		return "", inUseError(o.path, nil)
	}
	logs, err := o.logs()
	if err != nil {
		return "", err
	}
	kept = o.path + "." + stamped("damaged")
	there := 0
	for _, suffix := range append(logs, "") {
		err := o.disk.keep(o.path+suffix, kept+suffix)
		switch {
		case err == nil:
			there++
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	if there == 0 {
		return "", o.takeName(passing)
	}
	if err := o.disk.sync(filepath.Dir(o.path)); err != nil {
		return "", err
	}
	if len(logs) > 0 {
		if err := o.explain(kept); err != nil {
			return kept, err
		}
	}
	for _, suffix := range logs {
		if err := o.disk.remove(o.path + suffix); err != nil {
			return kept, err
		}
	}
	if err := o.disk.sync(filepath.Dir(o.path)); err != nil {
		return kept, err
	}
	return kept, o.takeName(passing)
}

// explain puts a text in the place of the database, for whoever looks after
// the process died: every program refuses it, and nothing is lost.
func (o opener) explain(kept string) error {
	text := fmt.Sprintf("This is no database: restoring a snapshot was cut short here at %s.\n"+
		"The damaged database of before is kept, with its logs, as\n%s\n"+
		"Run 'ocr db restore' with the same snapshot again.\n",
		time.Now().UTC().Format(time.RFC3339), kept)
	note := o.path + ".note.partial"
	if err := os.WriteFile(note, []byte(text), 0o644); err != nil {
		return err
	}
	if err := o.disk.sync(note); err != nil {
		return err
	}
	return o.takeName(note)
}

// wantVersion opens what stands there now.
func (o opener) wantVersion(ctx context.Context, version int) error {
	return view(ctx, o.path, func(ctx context.Context, conn *sql.Conn) error {
		now, err := inspect(ctx, conn, o.path, embedded)
		if err == nil && now.version() != version {
			err = &Error{
				Kind: KindIO, Path: o.path,
				Message: fmt.Sprintf("%s is at schema version %d after the restore, not at %d", o.path, now.version(), version),
				Hint:    "look at it with 'ocr doctor'; the database of before is kept",
			}
		}
		return err
	})
}
