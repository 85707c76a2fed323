//go:build !windows

package db

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow opens no symbolic link and waits for no other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// owner is whom a file belongs to; known is false where that cannot be told.
type owner struct {
	uid, gid uint32
	known    bool
}

func ownerOf(info fs.FileInfo) owner {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}
	}
	return owner{stat.Uid, stat.Gid, true}
}

// give makes o the owner of an open file. Only root can give a file away; the
// group can also be given by its members. It reports whether the group is that
// of o.
func (o owner) give(file *os.File) (sameGroup bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	now := ownerOf(info)
	if !o.known || !now.known || now == o {
		return true, nil
	}
	uid := -1
	if os.Geteuid() == 0 {
		uid = int(o.uid)
	}
	err = file.Chown(uid, int(o.gid))
	return err == nil || now.gid == o.gid, ifAllowed(err)
}

// rootFor reports whether files made here belong to root although the folder
// is somebody else's.
func (o owner) rootFor() bool { return o.known && o.uid != 0 && os.Geteuid() == 0 }
