package db

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// links are ways to reach the database at real, each with the folder of the
// link, in which nothing may be made.
func links(t *testing.T, real string) map[string]string {
	t.Helper()
	link := func(target string, name ...string) string {
		at := filepath.Join(append([]string{t.TempDir()}, name...)...)
		if err := os.Symlink(target, at); err != nil {
			t.Skip("this system makes no symbolic links here: ", err)
		}
		return at
	}
	relative := filepath.Join(filepath.Dir(filepath.Dir(real)), "link.db")
	must(t, os.Symlink(filepath.Join(filepath.Base(filepath.Dir(real)), filepath.Base(real)), relative))
	return map[string]string{
		"File":     link(real, "ocr.db"),
		"Folder":   filepath.Join(link(filepath.Dir(real), "data"), filepath.Base(real)),
		"Chain":    link(link(real, "first"), "second.db"),
		"Both":     link(filepath.Join(link(filepath.Dir(real), "data"), filepath.Base(real)), "ocr.db"),
		"Relative": relative,
	}
}

// TestRealPath: a database reached over links is the same as the one reached
// without them, for readers, writers, locks, snapshots and restores, while
// another process has it open.
func TestRealPath(t *testing.T) {
	real := fresh(t)
	for name, path := range links(t, real) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			other, err := sql.Open("sqlite", mustAddress(real))
			must(t, err)
			other.SetMaxOpenConns(1)
			_, err = other.Exec(addNote, "other-"+name)
			must(t, err)
			stored, err := storeNote(ctx, path, "own-"+name)
			if !stored || err != nil {
				t.Fatal(err)
			}
			for _, at := range []string{path, real} {
				text, err := readNotes(ctx, at)
				if err != nil || !strings.Contains(text, "other-"+name+" own-"+name) {
					t.Errorf("%s holds %q: %v", at, text, err)
				}
			}
			copied, err := Snapshot(ctx, path, "mine")
			if err != nil || filepath.Dir(copied) != filepath.Dir(real) {
				t.Errorf("snapshot %q %v", copied, err)
			}
			list, err := Snapshots(path)
			if err != nil || len(list) == 0 || filepath.Join(filepath.Dir(real), list[0].Name) != copied {
				t.Errorf("snapshots %v %v", list, err)
			}
			if used, err := InUse(ctx, path); err != nil || !used {
				t.Errorf("in use: %v %v", used, err)
			}
			if _, err := RestoreSnapshot(ctx, path, copied); KindOf(err) != KindInUse {
				t.Errorf("restored beside another process: %v", err)
			}
			must(t, other.Close())
			done, err := RestoreSnapshot(ctx, path, copied)
			if err != nil || filepath.Dir(done.SetAside) != filepath.Dir(real) {
				t.Errorf("restore %+v %v", done, err)
			}
			if s, err := ReadStatus(ctx, path); err != nil || s.Version != Latest() {
				t.Errorf("status %+v %v", s, err)
			}
			saved := filepath.Join(t.TempDir(), "saved.db")
			if _, err := Salvage(ctx, path, saved); err != nil {
				t.Error(err)
			}
			if info, err := os.Lstat(path); err != nil || name != "Folder" && info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v %v", info, err)
			}
			if name == "File" || name == "Chain" || name == "Both" {
				if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
					t.Errorf("beside the link: %v %v", entries, err)
				}
			}
		})
	}
}

// readNotes reads all notes as a command that reads does.
func readNotes(ctx context.Context, path string) (text string, err error) {
	err = Read(ctx, path, func(ctx context.Context, r *Reader) error {
		list, err := names(ctx, r.conn, "SELECT content FROM user_notes ORDER BY id")
		text = strings.Join(list, " ")
		return err
	})
	return text, err
}

// TestRealPathCreates: a new database is made where a link to its folder leads,
// and none where a link leads to nothing.
func TestRealPathCreates(t *testing.T) {
	real, at := t.TempDir(), t.TempDir()
	data := filepath.Join(at, "data")
	if err := os.Symlink(real, data); err != nil {
		t.Skip("this system makes no symbolic links here: ", err)
	}
	must(t, open(t, filepath.Join(data, "ocr.db"), Options{Create: true}).Close())
	wantNotes(t, filepath.Join(real, "ocr.db"), "")

	gone := filepath.Join(t.TempDir(), "gone")
	nowhere := filepath.Join(at, "nowhere")
	must(t, os.Symlink(gone, nowhere))
	loop := filepath.Join(at, "loop.db")
	must(t, os.Symlink("loop.db", loop))
	for _, path := range []string{nowhere, filepath.Join(nowhere, "ocr.db"), loop} {
		_, err := Open(t.Context(), path, Options{Create: true})
		wantKind(t, err, KindUnreadable)
		if err != nil && !strings.Contains(err.Error(), "is a symbolic link to ") {
			t.Errorf("%v", err)
		}
		_, err = readNotes(t.Context(), path)
		wantKind(t, err, KindUnreadable)
	}
	if _, err := os.Lstat(gone); !os.IsNotExist(err) {
		t.Errorf("something was made: %v", err)
	}
}

// TestSideFileIsNoFile: what stands under the name of a side file is named, and
// neither followed nor waited for.
func TestSideFileIsNoFile(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm", "-journal", ".lock"} {
		for what, make := range map[string]func(path string) error{
			"a folder":        func(path string) error { return os.Mkdir(path, 0o755) },
			"a symbolic link": func(path string) error { return os.Symlink(path+".target", path) },
		} {
			path := fresh(t)
			must(t, os.RemoveAll(path+suffix))
			must(t, make(path+suffix))
			_, err := Snapshot(t.Context(), path, "x")
			wantKind(t, err, KindUnreadable)
			if err != nil && !strings.Contains(err.Error(), path+suffix+" is "+what) {
				t.Errorf("%s as %s: %v", suffix, what, err)
			}
			if _, err := os.Lstat(path + suffix + ".target"); !os.IsNotExist(err) {
				t.Errorf("%s: the link was followed: %v", suffix, err)
			}
		}
	}
}

// TestLongPath: what the engine cannot open is said, and nothing is made there.
func TestLongPath(t *testing.T) {
	dir := t.TempDir()
	for len(dir) < maxEnginePath-250 {
		dir = filepath.Join(dir, strings.Repeat("x", 100))
	}
	const longest = maxEnginePath - len("-journal")
	fits := filepath.Join(dir, strings.Repeat("y", longest-len(dir)-len("//ocr.db")), "ocr.db")
	must(t, open(t, fits, Options{Create: true}).Close())
	wantNotes(t, fits, "")
	over := filepath.Join(filepath.Dir(fits)+"y", "ocr.db")
	_, err := Open(t.Context(), over, Options{Create: true})
	wantKind(t, err, KindPathTooLong)
	_, err = readNotes(t.Context(), over)
	wantKind(t, err, KindPathTooLong)
	if _, err := os.Lstat(filepath.Dir(over)); !os.IsNotExist(err) {
		t.Errorf("something was made: %v", err)
	}
}
