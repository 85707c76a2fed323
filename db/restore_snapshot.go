package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
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

// RestoreSnapshot puts the content of the file snapshot in the place of that of
// the database at path, and keeps what was there. The snapshot stays as it is.
// It is refused with what CheckSnapshot says, and with KindInUse while another
// process has the database open.
//
// Whenever the process dies, the database holds either all of the old content or
// all of the new:
//
//  1. A copy of the snapshot is made under a passing name and checked.
//  2. An intact database is opened so that nobody else can, and is kept as a
//     snapshot.
//  3. The engine writes the pages of the copy into it, in one transaction.
//
// The file itself stays: a process that waits to open it finds the new content
// in it. Another file under its name would share the names of its journal and
// log with a file that such a process still has open, and each would take those
// of the other for its own.
//
// A damaged one cannot be locked and written. Instead, all its files get second
// names, and the copy takes the name of the database. If there is a log, a note
// that explains takes the name of the database before the names of the logs go:
// with the name of a log beside it, the copy would be spoiled.
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
	if err := RightsOf(o.path).MakeDirs(filepath.Dir(o.path)); err != nil {
		return done, writeFileError(o.path, err)
	}
	unlock, err := o.lock(ctx)
	if err != nil {
		return done, err
	}
	defer func() { err = writeFileError(o.path, join(err, unlock())) }()
	sound, pageSize, err := o.sound(ctx)
	if err != nil {
		return done, err
	}
	passing := o.path + ".restore.partial"
	defer func() { err = join(err, o.removePassing(passing)) }()
	if err := o.fetch(ctx, snapshot, passing, pageSize); err != nil {
		return done, err
	}
	if _, err := o.checkCopy(ctx, passing); err != nil {
		return done, err
	}
	switch {
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

// fetch copies the snapshot to target, with the rights of the database and with
// pages of pageSize bytes, 0 for those of the snapshot: a database in use of a
// write-ahead log keeps the size of its pages.
func (o opener) fetch(ctx context.Context, snapshot, target string, pageSize int) error {
	if err := o.removePassing(target); err != nil {
		return err
	}
	source := o
	source.path = RealPath(snapshot)
	if _, err := source.copyPrivately(ctx, target); err != nil {
		return err
	}
	if pageSize != 0 {
		if err := o.setPageSize(ctx, target, pageSize); err != nil {
			return err
		}
	}
	if err := giveRights(target, RightsOf(o.path)); err != nil {
		return err
	}
	return o.disk.sync(target)
}

// setPageSize rewrites a copy that has pages of another size.
func (o opener) setPageSize(ctx context.Context, copied string, size int) error {
	private := o
	private.path = copied
	return private.onConnection(ctx, func(conn *sql.Conn) error {
		var now int
		err := conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&now)
		if err == nil && now != size {
			_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA page_size = %d; VACUUM", size))
		}
		return err
	})
}

// sound says whether the engine can read the whole database, so that it can be
// kept as a snapshot, and how many bytes its pages have. One that nobody may
// read is an error.
func (o opener) sound(ctx context.Context) (sound bool, pageSize int, err error) {
	err = view(ctx, o.path, func(ctx context.Context, conn *sql.Conn) error {
		found, err := quickCheck(ctx, conn, 1)
		if err == nil && len(found) > 0 {
			return &Error{Kind: KindCorrupt, Path: o.path, Message: some(found)}
		}
		if err == nil {
			_, err = recordedVersion(ctx, conn)
		}
		if err == nil {
			err = conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&pageSize)
		}
		return err
	})
	switch KindOf(err) {
	case KindCorrupt, KindNotADatabase, KindNoDatabase, KindSchema, KindInternal:
		return false, 0, nil
	}
	return err == nil, pageSize, err
}

// replaceSound keeps the database as a snapshot and fills it from the copy,
// while nobody else has it open.
func (o opener) replaceSound(ctx context.Context, copied string) (kept string, err error) {
	alone, err := o.alone(ctx)
	if err != nil {
		return "", err
	}
	err = alone.on(ctx, func(conn *sql.Conn) error {
		kept, err = o.snapshot(ctx, conn, func(int) []string { return []string{stamped("restore")} })
		if err == nil {
			err = o.fill(ctx, conn, copied)
		}
		return err
	})
	return kept, join(err, alone.Close())
}

// restorer is what the engine's connection offers for fill.
type restorer interface {
	NewRestore(source string) (*sqlite.Backup, error)
}

// fillPages is how many pages are written between two looks at ctx.
const fillPages = 1000

// fill replaces the content of the database by that of the copy, in one
// transaction. The caller has the database alone.
func (o opener) fill(ctx context.Context, conn *sql.Conn, copied string) error {
	source, err := address(copied, "mode=ro", "immutable=1")
	if err != nil {
		return err
	}
	return conn.Raw(func(raw any) error {
		engine, ok := raw.(restorer)
		if !ok {
			return errors.New("the driver cannot restore")
		}
		pages, err := engine.NewRestore(source)
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if err = ctx.Err(); err == nil {
				more, err = pages.Step(fillPages)
			}
		}
		// Finishing ends the transaction: by a rollback unless all are there.
		if ended := pages.Finish(); err == nil {
			err = ended
		}
		return err
	})
}

// alone opens the database so that nobody else can until it is closed.
func (o opener) alone(ctx context.Context) (*Store, error) {
	const pause = 50 * time.Millisecond
	o.waits = waits{pause: pause, retries: int(holderWait / pause), total: o.waits.total}
	// Whoever opens and closes it last puts an old log into the file.
	err := o.onConnection(ctx, func(conn *sql.Conn) error { return o.setWAL(ctx, conn) })
	if err != nil {
		return nil, inUseIfBusy(o.path, err)
	}
	store, err := o.connect("rw&_pragma=locking_mode(EXCLUSIVE)")
	if err != nil {
		return nil, err
	}
	err = store.on(ctx, func(conn *sql.Conn) error {
		// A user of the write-ahead log keeps a lock for as long as it has the
		// file open; this one is kept from here on.
		return o.waits.retry(ctx, o.path, func(ctx context.Context) error {
			_, err := conn.ExecContext(ctx, "BEGIN EXCLUSIVE; ROLLBACK")
			return err
		})
	})
	if err == nil {
		return store, nil
	}
	return nil, join(inUseIfBusy(o.path, err), store.Close())
}

func inUseIfBusy(path string, err error) error {
	if KindOf(err) == KindBusy {
		return inUseError(path, err)
	}
	return err
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
		// Whoever made a database here meanwhile keeps it.
		err := o.disk.link(passing, o.path)
		if errors.Is(err, fs.ErrExist) {
			err = inUseError(o.path, err)
		}
		return "", join(err, o.disk.sync(filepath.Dir(o.path)))
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
	if err := o.disk.remove(note); err != nil {
		return err
	}
	file, err := RightsOf(o.path).Create(note)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := join(err, file.Close()); err != nil {
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
