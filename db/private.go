package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"ocr/db/gen"
)

// ReadUpgraded is Read for files of every earlier version too: they answer as
// they will after the upgrade, and stay as they are. For that the file is
// copied into a private folder, which goes when fn has returned, and the copy
// is upgraded; Notice gets one line that says so. fn must be able to run
// again, as for Read. Of the options, Notice, Progress and Reconcile count.
func ReadUpgraded(ctx context.Context, path string, opt Options, fn func(ctx context.Context, r *Reader) error) error {
	return newOpener(path, opt).readUpgraded(ctx, fn)
}

func (o opener) readUpgraded(ctx context.Context, fn func(ctx context.Context, r *Reader) error) error {
	var now standing
	err := view(ctx, o.path, func(ctx context.Context, conn *sql.Conn) (err error) {
		now, err = readable(ctx, conn, o.path, o.steps)
		if err != nil || now.old() {
			return err
		}
		return fn(ctx, &Reader{Queries: gen.New(conn), conn: conn, path: o.path, now: now})
	})
	if err != nil || !now.old() {
		o.warnShared(now)
		return err
	}
	return o.readCopy(ctx, now, fn)
}

// readCopy reads an upgraded copy of the file.
func (o opener) readCopy(ctx context.Context, was standing, fn func(ctx context.Context, r *Reader) error) (err error) {
	start := time.Now()
	dir, remove, err := privateDir()
	if err != nil {
		return copyError(o.path, err)
	}
	defer func() { err = join(err, remove()) }()
	copied := filepath.Join(dir, "ocr.db")
	size, err := o.copyPrivately(ctx, copied)
	if err != nil {
		return noCopyError(o.path, err)
	}
	if err := o.upgradePrivately(ctx, copied); err != nil {
		return noCopyError(o.path, err)
	}
	o.progress("")
	if o.opt.Notice != nil {
		o.opt.Notice(fmt.Sprintf("note: %s is at schema version %d: this answer took a private upgraded copy (%s, %s); 'ocr db migrate' upgrades the file itself, once",
			o.path, was.version(), FormatBytes(size), time.Since(start).Round(time.Millisecond)))
	}
	return connectAndRun(ctx, o.path, copied, "mode=ro", inReadTransaction(func(ctx context.Context, conn *sql.Conn) error {
		now, err := inspect(ctx, conn, o.path, o.steps)
		if err != nil {
			return err
		}
		return fn(ctx, &Reader{Queries: gen.New(conn), conn: conn, path: o.path, now: now})
	}))
}

// copyPrivately makes a consistent copy by the rules for reading, and returns
// its size in bytes.
func (o opener) copyPrivately(ctx context.Context, target string) (size int64, err error) {
	err = viewConn(ctx, o.path, func(ctx context.Context, conn *sql.Conn) error {
		if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		// The engine takes the copy for a write; the file is open for reading.
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only = OFF"); err != nil {
			return err
		}
		return o.copyInto(ctx, conn, target)
	})
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// upgradePrivately upgrades a copy that nobody else sees: without a snapshot,
// and without waiting for the disk.
func (o opener) upgradePrivately(ctx context.Context, copied string) error {
	private := o
	private.path = copied
	store, err := private.connect("rw")
	if err != nil {
		return err
	}
	// Errors name the file itself: nobody knows the copy.
	err = store.on(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
			return err
		}
		o.opt.Notice = nil
		if err := o.clearMark(ctx, conn); err != nil {
			return err
		}
		h, err := o.history(ctx)
		if err != nil {
			return err
		}
		if err := o.checkShape(ctx, conn, h); err != nil {
			return err
		}
		if _, err := o.restore(ctx, conn, h); err != nil {
			return err
		}
		_, _, err = o.runSteps(ctx, conn)
		return err
	})
	return join(err, store.Close())
}

// noCopyError says why an old file cannot be read: what stands in the way is
// the copy, not the file, unless the file itself is to blame.
func noCopyError(path string, err error) error {
	var known *Error
	if isContext(err) || errors.As(err, &known) && known.Kind != KindNoSpace && known.Kind != KindIO && known.Kind != KindReadOnly {
		if known != nil {
			known.Path = path
		}
		return err
	}
	if tooManyFiles(err) {
		return tooManyFilesError(path, err)
	}
	e := &Error{
		Kind: KindIO, Path: path, Err: err,
		Message: fmt.Sprintf("%s is of an earlier version, and the private upgraded copy that reading it needs cannot be made in %s", path, os.TempDir()),
		Hint:    "run 'ocr db migrate', which upgrades the file itself, or make room there, or name another folder in TMPDIR",
	}
	if known != nil {
		e.Kind = known.Kind
	} else if KindOf(fileError(path, err)) == KindNoSpace {
		e.Kind = KindNoSpace
	}
	return e
}

// privatePrefix begins the name of every private folder.
const privatePrefix = "ocr-read-"

// privateDir makes a folder that only this user can enter, and returns what
// removes it. A process that is killed leaves its folder: whoever makes the
// next one removes those whose owner is gone.
func privateDir() (dir string, remove func() error, err error) {
	sweepPrivateDirs()
	dir, err = os.MkdirTemp("", privatePrefix)
	if err != nil {
		return "", nil, err
	}
	owner := flock.New(filepath.Join(dir, "owner"))
	if _, err := owner.TryLock(); err != nil {
		return "", nil, join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return join(owner.Close(), os.RemoveAll(dir)) }, nil
}

// orphanAge is how old a private folder must be before its missing owner
// counts: a new one has none for a moment.
const orphanAge = time.Minute

func sweepPrivateDirs() {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), privatePrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < orphanAge {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, "owner")); err == nil && !info.Mode().IsRegular() {
			continue
		}
		// Folders of others cannot be opened, and stay.
		owner := flock.New(filepath.Join(dir, "owner"), flock.SetFlag(os.O_RDONLY))
		if gone, err := owner.TryLock(); err == nil && gone {
			_ = owner.Close()
			_ = os.RemoveAll(dir)
		}
	}
}
