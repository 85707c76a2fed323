//go:build unix

package db

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRights: every file that is made beside a database has its mode, and when
// root makes it, its owner and group.
func TestRights(t *testing.T) {
	for _, mode := range []os.FileMode{0o600, 0o640, 0o664} {
		path := fresh(t)
		must(t, os.Remove(path+".lock"))
		uid, gid := os.Getuid(), os.Getgid()
		if uid == 0 {
			uid, gid = 65534, 65533
			must(t, os.Chown(path, uid, gid))
		}
		must(t, os.Chmod(path, mode))
		copied, err := Snapshot(t.Context(), path, "x")
		must(t, err)
		_, err = RestoreSnapshot(t.Context(), path, copied)
		must(t, err)
		saved := filepath.Join(filepath.Dir(path), "saved.db")
		_, err = Salvage(t.Context(), path, saved)
		must(t, err)
		must(t, os.WriteFile(path+"-wal", []byte("left"), 0o600))
		must(t, os.Truncate(path, 5000))
		_, err = RestoreSnapshot(t.Context(), path, copied)
		must(t, err)
		entries, err := os.ReadDir(filepath.Dir(path))
		must(t, err)
		if len(entries) < 6 {
			t.Errorf("only %v", entries)
		}
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), "-wal") {
				continue // the one written above, under its second name
			}
			info, err := entry.Info()
			must(t, err)
			stat := info.Sys().(*syscall.Stat_t)
			if info.Mode().Perm() != mode || int(stat.Uid) != uid || int(stat.Gid) != gid {
				t.Errorf("database %v: %s is %v of %d:%d", mode, entry.Name(), info.Mode(), stat.Uid, stat.Gid)
			}
		}
	}
}

// TestRightsWhileMade: a copy is never readable by more than its owner before
// it is finished, and the private copy of a reader never is.
func TestRightsWhileMade(t *testing.T) {
	path := fresh(t)
	must(t, os.Chmod(path, 0o600))
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
	looked := 0
	look := func(file string) {
		info, err := os.Stat(file)
		must(t, err)
		looked++
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", file, info.Mode())
		}
	}
	o := newOpener(path, Options{})
	o.disk = lookingDisk{look: look}
	_, err := o.restoreSnapshot(t.Context(), aSnapshot(t))
	must(t, err)
	private := filepath.Join(t.TempDir(), "copy.db")
	_, err = o.copyPrivately(t.Context(), private)
	must(t, err)
	look(private)
	if looked < 3 {
		t.Errorf("looked %d times", looked)
	}
}

// lookingDisk looks at each file that is put on the disk.
type lookingDisk struct {
	realDisk
	look func(path string)
}

func (d lookingDisk) sync(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		d.look(path)
	}
	return d.realDisk.sync(path)
}

// TestRightsOfFolder: root makes a database in the folder of another user for
// that user.
func TestRightsOfFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes files for others")
	}
	dir := t.TempDir()
	must(t, os.Chown(dir, 65534, 65533))
	path := filepath.Join(dir, "data", "ocr.db")
	s := open(t, path, Options{Create: true})
	for _, name := range []string{"", "ocr.db", "ocr.db-wal", "ocr.db-shm", "ocr.db.lock"} {
		info, err := os.Stat(filepath.Join(dir, "data", name))
		must(t, err)
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 65534 || stat.Gid != 65533 {
			t.Errorf("%s is of %d:%d", name, stat.Uid, stat.Gid)
		}
	}
	must(t, s.Close())
}
