package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// kinds are the file systems that people meet, by statfs(2)'s f_type.
var kinds = map[int64]disk{
	unix.NFS_SUPER_MAGIC:       {kind: "nfs", network: true},
	unix.SMB_SUPER_MAGIC:       {kind: "smb", network: true},
	unix.SMB2_SUPER_MAGIC:      {kind: "smb2", network: true},
	unix.CIFS_SUPER_MAGIC:      {kind: "cifs", network: true},
	unix.AFS_FS_MAGIC:          {kind: "afs", network: true},
	unix.CEPH_SUPER_MAGIC:      {kind: "ceph", network: true},
	unix.CODA_SUPER_MAGIC:      {kind: "coda", network: true},
	unix.V9FS_MAGIC:            {kind: "9p", network: true},
	unix.OCFS2_SUPER_MAGIC:     {kind: "ocfs2", network: true},
	unix.EXT4_SUPER_MAGIC:      {kind: "ext4"},
	unix.BTRFS_SUPER_MAGIC:     {kind: "btrfs"},
	unix.XFS_SUPER_MAGIC:       {kind: "xfs"},
	unix.TMPFS_MAGIC:           {kind: "tmpfs"},
	unix.OVERLAYFS_SUPER_MAGIC: {kind: "overlay"},
}

func diskOf(dir string) (disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return disk{}, fmt.Errorf("asking for the file system of %s: %w", dir, err)
	}
	return kinds[int64(uint32(s.Type))], nil
}
