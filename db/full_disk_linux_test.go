package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk is a disk of 4 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); errors.Is(err, unix.EPERM) {
		t.Skip("needs the right to mount a small disk")
	} else {
		must(t, err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, 0)) })
	return disk
}

// TestFullDisk writes and reads where none to a few pages are left: what fails
// says that there is no room, also where the engine only calls it a failed
// read or write, and reading goes on.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t)
	path := filepath.Join(disk, "ocr.db")
	must(t, open(t, path, Options{Create: true}).Close())
	refused := 0
	for pages := range 16 {
		filler, err := os.Create(filepath.Join(disk, "filler"))
		must(t, err)
		for err == nil {
			_, err = filler.Write(make([]byte, 4096))
		}
		info, err := filler.Stat()
		must(t, err)
		must(t, filler.Truncate(info.Size()-int64(pages)*4096))
		must(t, filler.Close())
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			err = join(s.Write(t.Context(), addPair(pages)), s.Close())
		}
		if err != nil {
			refused++
			wantKind(t, err, KindNoSpace)
		}
		must(t, readNothing(path))
		must(t, os.Remove(filler.Name()))
	}
	if refused < 8 {
		t.Errorf("only %d writes had no room", refused)
	}
}

// TestUpgradeFullDisk upgrades on disks of every size from one that just
// holds the file to one that holds all: where the room runs out, the error
// says so, and the next command finishes when there is room again.
// DB_TEST_ALL makes the sizes finer and the versions more.
func TestUpgradeFullDisk(t *testing.T) {
	disk := smallDisk(t)
	size := func(kilobytes int) {
		must(t, unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%dk", kilobytes)))
	}
	versions, step := []int{10}, 56
	if os.Getenv("DB_TEST_ALL") != "" {
		versions, step = []int{1, 4, 10, 11, 14}, 12
	}
	for _, version := range versions {
		body := oldBytes(t, version)
		before := readContent(t, oldFile(t, version))
		refused, passed := 0, 0
		for kilobytes := len(body)/1024 + 8; passed < 3; kilobytes += step {
			size(4096)
			path := filepath.Join(disk, "ocr.db")
			must(t, os.WriteFile(path, body, 0o644))
			size(kilobytes)
			s, err := Open(t.Context(), path, Options{})
			if err == nil {
				passed++
				must(t, s.Close())
			} else {
				refused++
				if kind := KindOf(err); kind != KindNoSpace || err.(*Error).Hint == "" {
					t.Errorf("version %d, %d kB: kind %s: %v", version, kilobytes, kind, err)
				}
				if got := snapshots(t, path); len(got) > 1 || len(got) == 1 && got[0] != fmt.Sprintf("v%d", version) {
					t.Errorf("version %d, %d kB: left %v", version, kilobytes, got)
				}
			}
			size(4096)
			if _, err := Migrate(t.Context(), path, Options{}); err != nil {
				t.Errorf("version %d, %d kB: with room again: %v", version, kilobytes, err)
			}
			wantUpgraded(t, path)
			wantKept(t, before, readContent(t, path))
			wantOneSnapshot(t, path, version, before)
			entries, err := os.ReadDir(disk)
			must(t, err)
			for _, entry := range entries {
				must(t, os.Remove(filepath.Join(disk, entry.Name())))
			}
		}
		if refused < 5 {
			t.Errorf("version %d: only %d disks were too small", version, refused)
		}
		t.Logf("version %d: %d disks too small", version, refused)
	}
}
