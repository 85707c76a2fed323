//go:build unix

package main

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
