package history

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAppendFollowsNoLink: the log is never written elsewhere, and has the mode
// of the database.
func TestAppendFollowsNoLink(t *testing.T) {
	for name, put := range map[string]func(path, elsewhere string) error{
		"Folder": func(path, elsewhere string) error { return os.Symlink(elsewhere, filepath.Dir(path)) },
		"Log": func(path, elsewhere string) error {
			return os.Symlink(filepath.Join(elsewhere, "log"), path)
		},
		"Lock": func(path, elsewhere string) error {
			return os.Symlink(filepath.Join(elsewhere, "log"), path+".lock")
		},
	} {
		path, elsewhere := log(t), t.TempDir()
		if name != "Folder" {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := put(path, elsewhere); err != nil {
			t.Skip("this system makes no symbolic links here: ", err)
		}
		err := Append(context.Background(), path, []Entry{ended("u")})
		if err == nil || !strings.Contains(err.Error(), "is a symbolic link") {
			t.Errorf("%s: %v", name, err)
		}
		if found, err := os.ReadDir(elsewhere); err != nil || len(found) > 0 {
			t.Errorf("%s: made elsewhere: %v %v", name, found, err)
		}
	}
}

// TestAppendRights: the log and its lock have the mode of the database.
func TestAppendRights(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("this system has no such modes")
	}
	path := log(t)
	data := filepath.Dir(filepath.Dir(path))
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "ocr.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Append(context.Background(), path, []Entry{ended("u")}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]os.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", file, info.Mode(), err, want)
		}
	}
}
