//go:build unix

package project

import (
	"errors"
	"syscall"
)

// alive reports whether a process of that id exists. One that belongs to
// somebody else refuses the signal and so is alive.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
