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
)

// Snapshot keeps a copy of the database at path beside it, under the name
// ocr.db.bak.<label>.<YYYY-MM-DDTHH-MM-SS-mmmZ>, and returns its path. The
// copy is consistent also while others write, it is checked before it gets
// its name, and it replaces nothing. Where that cannot be done, nothing is
// left behind. A newer file, and one marked as unfinished, is copied as it is.
func Snapshot(ctx context.Context, path, label string) (snapshot string, err error) {
	o := newOpener(path, Options{})
	now, err := o.look(ctx)
	if kind := KindOf(err); err != nil && kind != KindNewerSchema && kind != KindDirty {
		return "", err
	}
	if now.absent() {
		return "", noDatabaseError(path)
	}
	unlock, err := o.lock(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = join(err, unlock()) }()
	err = o.onConnection(ctx, func(conn *sql.Conn) error {
		snapshot, err = o.snapshot(ctx, conn, func(int) []string { return []string{stamped(label)} })
		return err
	})
	return snapshot, err
}

func (o opener) onConnection(ctx context.Context, fn func(conn *sql.Conn) error) error {
	store, err := o.connect("rw")
	if err != nil {
		return err
	}
	return join(store.on(ctx, fn), store.Close())
}

// snapshotVersion keeps a copy of the file before it leaves its version,
// which is read from the copy. One of that version with the same rows is
// kept already after an upgrade that was cut short.
func (o opener) snapshotVersion(ctx context.Context, conn *sql.Conn) (string, error) {
	return o.snapshot(ctx, conn, func(version int) []string {
		label := fmt.Sprintf("v%d", version)
		return []string{label, stamped(label)}
	})
}

// snapshot makes a copy under a passing name and gives it the first of the
// labels that is free. The caller holds the lock: a file of the passing name
// is what a process left that is gone.
func (o opener) snapshot(ctx context.Context, conn *sql.Conn, labels func(version int) []string) (name string, err error) {
	passing := o.path + ".partial"
	defer func() { err = join(err, o.removePassing(passing)) }()
	if err := o.removePassing(passing); err != nil {
		return "", err
	}
	for left := o.waits.retries; ; left-- {
		// Only the wait for a lock is bounded, not the work.
		err := engineError(o.path, o.copyInto(ctx, conn, passing))
		if err == nil {
			break
		}
		if KindOf(err) != KindBusy || left == 0 {
			return "", err
		}
		if err := pause(ctx, o.waits.pause); err != nil {
			return "", err
		}
	}
	version, err := o.checkCopy(ctx, passing)
	if err != nil {
		return "", err
	}
	if err := giveRights(passing, RightsOf(o.path)); err != nil {
		return "", err
	}
	if err := o.disk.sync(passing); err != nil {
		return "", err
	}
	for tries := 0; ; tries++ {
		for _, label := range labels(version) {
			name := o.path + snapshotMark + label
			err := o.disk.link(passing, name)
			if err == nil {
				return name, o.disk.sync(filepath.Dir(name))
			}
			if !errors.Is(err, fs.ErrExist) || tries > 100 {
				return "", err
			}
			if good, err := o.holdsTheSame(ctx, name, passing, version); err != nil || good {
				return name, err
			}
		}
		// The next stamp is another one.
		if err := pause(ctx, time.Millisecond); err != nil {
			return "", err
		}
	}
}

func (o opener) removePassing(passing string) error {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := o.disk.remove(passing + suffix); err != nil {
			return err
		}
	}
	return nil
}

// copyInto writes a consistent copy to target, which must not exist. Nobody
// else may read it.
func (o opener) copyInto(ctx context.Context, conn *sql.Conn, target string) error {
	var size int64
	err := conn.QueryRowContext(ctx, `
SELECT (page_count - freelist_count) * page_size
FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&size)
	if err != nil {
		return err
	}
	if err := checkLength(target); err != nil {
		return err
	}
	free, err := o.disk.free(filepath.Dir(target))
	if err != nil {
		return err
	}
	if free < size {
		return &Error{
			Kind: KindNoSpace, Path: o.path,
			Message: fmt.Sprintf("a copy of %s needs %s and %s has %s left", o.path, FormatBytes(size), filepath.Dir(target), FormatBytes(free)),
			Hint:    "make room on that disk, then run the same command again",
		}
	}
	// The engine fills an empty file that is there, and keeps its rights.
	if err := private.make(target); err != nil {
		return err
	}
	done := o.watch(target, size)
	defer done()
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", target)
	return err
}

// watch tells how far the copy has come, until done is called.
func (o opener) watch(target string, size int64) (done func()) {
	if o.opt.Progress == nil || size == 0 {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressPause)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if info, err := os.Stat(target); err == nil {
					o.progress(fmt.Sprintf("copying %s: %d%% of %s", filepath.Base(o.path), min(100, info.Size()*100/size), FormatBytes(size)))
				}
			}
		}
	}()
	return func() { close(end); <-ended }
}

// progressPause lies between two lines about a long copy.
const progressPause = 200 * time.Millisecond

// checkCopy reads a whole copy and returns the version inside.
func (o opener) checkCopy(ctx context.Context, copied string) (version int, err error) {
	err = connectAndRun(ctx, o.path, copied, "mode=ro&immutable=1", inReadTransaction(func(ctx context.Context, conn *sql.Conn) error {
		found, err := quickCheck(ctx, conn, 1)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return &Error{
				Kind: KindCorrupt, Path: o.path,
				Message: fmt.Sprintf("the database %s is damaged: %s", o.path, some(found)),
			}
		}
		version, err = recordedVersion(ctx, conn)
		return err
	}))
	return version, err
}

// noSnapshotError says why the upgrade did not start.
func noSnapshotError(path string, err error) error {
	err = engineError(path, err)
	known := &Error{Kind: KindIO, Path: path, Err: err}
	var cause *Error
	switch {
	case err == nil, isContext(err):
		return err
	case errors.As(err, &cause):
		known.Kind = cause.Kind
	case errors.As(writeFileError(path, err), &cause):
		known.Kind = cause.Kind
	}
	known.Message = fmt.Sprintf("%s is not upgraded, because no snapshot of it could be kept", path)
	known.Hint = "mend that, or go without a snapshot: ocr db migrate --no-snapshot"
	if known.Kind == KindCorrupt || known.Kind == KindBusy || known.Kind == KindDirty {
		known.Hint = cause.Hint
	}
	return known
}
