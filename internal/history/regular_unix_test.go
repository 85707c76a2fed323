//go:build unix

package history

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRegular puts a pipe, which nobody writes, and a device where the log or
// its lock file should be.
func TestRegular(t *testing.T) {
	pipe := func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, put := range map[string]func(t *testing.T, path string){
		"Pipe": pipe,
		"Device": func(t *testing.T, path string) {
			if err := os.Symlink("/dev/zero", path); err != nil {
				t.Fatal(err)
			}
		},
		"Lock": func(t *testing.T, path string) { pipe(t, path+".lock") },
	} {
		t.Run(name, func(t *testing.T) {
			path := log(t)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			put(t, path)
			refused := func(err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
					t.Errorf("%v", err)
				}
			}
			refused(Append(context.Background(), path, []Entry{ended("u")}))
			if name != "Lock" {
				_, err := Replay(path)
				refused(err)
			}
		})
	}
}
