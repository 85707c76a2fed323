package project

import (
	"errors"
	"syscall"
)

// alive reports whether a process of that id exists. One that may not be opened
// belongs to somebody else and so is alive; one that can be opened may have
// ended already.
func alive(pid int) bool {
	process, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return errors.Is(err, syscall.ERROR_ACCESS_DENIED)
	}
	defer syscall.CloseHandle(process)
	event, err := syscall.WaitForSingleObject(process, 0)
	return err == nil && event == syscall.WAIT_TIMEOUT
}
