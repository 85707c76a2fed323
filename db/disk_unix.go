//go:build !windows

package db

import (
	"os"

	"golang.org/x/sys/unix"
)

// FreeBytes is how many bytes this user may still write in a folder.
func FreeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

func flush(f *os.File) error { return f.Sync() }
