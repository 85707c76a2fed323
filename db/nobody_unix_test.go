//go:build unix

package db

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// becomeNobody runs cmd as a user without rights. Where the coverage of tests
// is measured, that user has a folder of its own for what it counts: the one of
// this user would be refused, with a line on stderr.
func becomeNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if testing.CoverMode() == "" {
		return
	}
	dir, err := os.MkdirTemp("", "ocr-cover-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777))
	cmd.Env = append(cmd.Environ(), "GOCOVERDIR="+dir)
}
