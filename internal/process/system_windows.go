package process

import (
	"errors"
	"syscall"
	"time"
)

// initialPIDSpace: there is only one.
const initialPIDSpace = ""

// bootID: the system has none. The start of a process tells restarts apart.
func bootID() string { return "" }

// pidSpace, timeSpace: there is only one of each.
func pidSpace() string { return "" }

func timeSpace() string { return "" }

// machine: none is read here.
func machine() string { return "" }

const (
	queryLimited     = 0x1000 // PROCESS_QUERY_LIMITED_INFORMATION
	invalidParameter = syscall.Errno(87)
)

// look opens the process. One that may not be opened belongs to somebody else;
// one that can be opened may have ended already.
func look(pid int) Sighting {
	process, err := syscall.OpenProcess(queryLimited|syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return Sighting{Gone: errors.Is(err, invalidParameter)}
	}
	defer syscall.CloseHandle(process)
	if event, err := syscall.WaitForSingleObject(process, 0); err == nil && event == syscall.WAIT_OBJECT_0 {
		return Sighting{Gone: true}
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
		return Sighting{}
	}
	return Sighting{Start: Start{Ms: created.Nanoseconds() / int64(time.Millisecond)}}
}
