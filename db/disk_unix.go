//go:build !windows

package db

import (
	"os"

	"golang.org/x/sys/unix"
)

func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

func flush(f *os.File) error { return f.Sync() }
