package db

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// FreeBytes is how many bytes this user may still write in a folder.
func FreeBytes(dir string) (int64, error) {
	var free uint64
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return int64(min(free, math.MaxInt64)), nil
}

// flush leaves it to the engine, which has put the copy on the disk with
// its own handle: a handle for reading cannot, and a folder has none.
func flush(*os.File) error { return nil }
