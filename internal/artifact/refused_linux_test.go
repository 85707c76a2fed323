package artifact

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"ocr/db"
)

// asNobody runs f without the right of root to write anywhere. Only the one
// thread it runs on changes, and ends with f.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		f()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	boundary, sessions, elsewhere := project(t)
	round := filepath.Join(sessions, "s", "rounds", "round-1")
	put(t, filepath.Join(round, "round-meta.json"), "old")
	for _, dir := range []string{round, filepath.Dir(round), sessions} {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	}
	d := openDir(t, boundary, filepath.Join(sessions, "s"))
	before := snapshot(t, filepath.Dir(elsewhere))
	asNobody(t, func() {
		for _, rel := range []string{RoundMeta(1), RoundMeta(2)} {
			if _, err := d.Replace(rel, []byte("new")); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %v", rel, err)
			}
		}
		if _, err := OpenDir(db.Rights{}, boundary, filepath.Join(sessions, "new")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a new session: %v", err)
		}
	})
	wantSnapshot(t, filepath.Dir(elsewhere), before)
}

// A file size limit fails the write half way, as a full disk does.
func TestReplaceFullDisk(t *testing.T) {
	boundary, sessions, elsewhere := project(t)
	dir := filepath.Join(sessions, "s")
	put(t, filepath.Join(dir, RoundMeta(1)), "old")
	d := openDir(t, boundary, dir)
	before := snapshot(t, filepath.Dir(elsewhere))
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	// Package testing keeps a log that grows meanwhile: it must stay below.
	const limit = 8 << 20
	small := old
	small.Cur = limit
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	_, first := d.Replace(RoundMeta(1), make([]byte, 2*limit))
	_, second := d.Replace(RoundMeta(2), make([]byte, 2*limit))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{first, second} {
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("error %v", err)
		}
	}
	wantSnapshot(t, filepath.Dir(elsewhere), before)
}
