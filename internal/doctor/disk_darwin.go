package doctor

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// networks are the names of file systems that several machines may write.
var networks = []string{"nfs", "smbfs", "afpfs", "webdav", "cifs"}

func diskOf(dir string) (disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return disk{}, fmt.Errorf("asking for the file system of %s: %w", dir, err)
	}
	kind := unix.ByteSliceToString(s.Fstypename[:])
	return disk{kind: kind, network: slices.Contains(networks, kind)}, nil
}
