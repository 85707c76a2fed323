package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// initialPIDSpace: there is only one.
const initialPIDSpace = ""

func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// pidSpace, timeSpace: there is only one of each.
func pidSpace() string { return "" }

func timeSpace() string { return "" }

// machine: the system tells it only by a service that is too slow to ask.
func machine() string { return "" }

// zombie is the state of a process that has ended.
const zombie = 5

func look(pid int) Sighting {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return Sighting{Gone: true}
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return Sighting{}
	}
	if info.Proc.P_stat == zombie {
		return Sighting{Gone: true}
	}
	start := info.Proc.P_starttime
	return Sighting{
		Start:  Start{Ms: start.Sec*1000 + int64(start.Usec)/1000},
		Parent: int64(info.Eproc.Ppid),
	}
}
