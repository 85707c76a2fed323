package db

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// disk is what keeping and restoring snapshots asks of the operating system.
type disk interface {
	// free is how many bytes this user may still write in a folder.
	free(dir string) (bytes int64, err error)
	// sync puts a file or a folder on the disk.
	sync(path string) error
	// link gives a file a second name, which must be free.
	link(from, to string) error
	// keep gives a file a second name, or where there are none, makes a copy
	// of it.
	keep(from, to string) error
	// rename gives a file the name of another, which it replaces in one step.
	rename(from, to string) error
	// remove takes a name away; a missing one is no error.
	remove(path string) error
}

// realDisk is the disk itself.
type realDisk struct{}

func (realDisk) free(dir string) (int64, error) { return FreeBytes(dir) }

func (realDisk) sync(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = join(err, f.Close()) }()
	return flush(f)
}

// link falls back on renaming where the file system has no second names; the
// caller holds the lock, so that no process of this program takes the name in
// between.
func (realDisk) link(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || !noLinks(err) {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return join(err, &fs.PathError{Op: "link", Path: to, Err: fs.ErrExist})
	}
	return os.Rename(from, to)
}

func noLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EMLINK)
}

func (d realDisk) keep(from, to string) error {
	err := os.Link(from, to)
	if err == nil || !noLinks(err) {
		return err
	}
	if err := copyFile(from, to); err != nil {
		return err
	}
	if err := giveRights(to, RightsOf(from)); err != nil {
		return err
	}
	return d.sync(to)
}

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
