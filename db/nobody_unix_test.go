//go:build unix

package db

import (
	"os/exec"
	"syscall"
)

// becomeNobody makes cmd run as a user without rights.
func becomeNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
