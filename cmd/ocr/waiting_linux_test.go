package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// aTerminal is the two ends of one: what a program writes to far is read from
// near.
func aTerminal(t *testing.T) (near, far *os.File) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = near.Close() })
	must(t, unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	must(t, err)
	far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = far.Close() })
	return near, far
}

// TestWaitingIsShown: somebody at a terminal sees that a command waits and for
// whom, until it goes on; elsewhere nothing is said.
func TestWaitingIsShown(t *testing.T) {
	t.Parallel()
	holder := fmt.Sprintf("(pid %d) is ", os.Getpid())
	dir := aProject(t, t.TempDir())
	hold := func(t *testing.T) (release func()) {
		pool := openRaw(t, dir)
		_, err := pool.Exec("BEGIN IMMEDIATE")
		must(t, err)
		return func() {
			_, err := pool.Exec("ROLLBACK")
			must(t, err)
			must(t, pool.Close())
		}
	}
	t.Run("Terminal", func(t *testing.T) {
		near, far := aTerminal(t)
		release := hold(t)
		cmd := asProcess(dir, "state", "advance", "--session-id", "s", "--phase", "change-context")
		cmd.Stderr = far
		must(t, cmd.Start())
		var seen strings.Builder
		part := make([]byte, 1024)
		for !strings.Contains(seen.String(), holder+"writing") {
			n, err := near.Read(part)
			must(t, err)
			seen.Write(part[:n])
		}
		if !strings.Contains(seen.String(), "waiting for ocr.db: ") {
			t.Errorf("%q", seen.String())
		}
		release()
		must(t, cmd.Wait())
		must(t, far.Close())
		rest, err := io.ReadAll(near) // ends with an error: the other end is gone
		if seen.Write(rest); err == nil || !strings.HasSuffix(seen.String(), "\r"+strings.Repeat(" ", 78)+"\r") {
			t.Errorf("the line is left: %q", seen.String())
		}
	})
	t.Run("LockFile", func(t *testing.T) {
		near, far := aTerminal(t)
		lock := flock.New(filepath.Join(dir, ".ocr", "data", "ocr.db.lock"))
		must(t, lock.Lock())
		cmd := asProcess(dir, "db", "vacuum", "--no-snapshot")
		cmd.Stderr = far
		must(t, cmd.Start())
		var seen strings.Builder
		part := make([]byte, 1024)
		for !strings.Contains(seen.String(), holder+"upgrading or copying it") {
			n, err := near.Read(part)
			must(t, err)
			seen.Write(part[:n])
		}
		must(t, lock.Close())
		must(t, cmd.Wait())
	})
	t.Run("Elsewhere", func(t *testing.T) {
		release := hold(t)
		cmd := asProcess(dir, "state", "advance", "--session-id", "s", "--phase", "analysis")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		must(t, cmd.Start())
		time.AfterFunc(1500*time.Millisecond, release)
		must(t, cmd.Wait())
		if stderr.Len() > 0 {
			t.Errorf("%q", stderr.String())
		}
	})
}
