//go:build unix

package doctor

import (
	"io/fs"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite is nil when this user may write the file or folder.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }

// owner is the number of the user that owns the file.
func owner(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.Itoa(int(stat.Uid))
	}
	return ""
}
