//go:build unix

package doctor

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// becomeNobody makes cmd run as a user without rights, where this one has all.
func becomeNobody(_ *testing.T, cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// makePipe makes a named pipe.
func makePipe(t *testing.T, path string) {
	t.Helper()
	must(t, syscall.Mkfifo(path, 0o644))
}

// giveAway makes nobody the owner of a file.
func giveAway(t *testing.T, path string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may give files away")
	}
	must(t, os.Chown(path, 65534, 65534))
}
