package db

import (
	"os"

	"golang.org/x/sys/windows"
)

func freeBytes(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return free, nil
}

// flush leaves it to the engine, which has put the copy on the disk with
// its own handle: a handle for reading cannot, and a folder has none.
func flush(*os.File) error { return nil }
