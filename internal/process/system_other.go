//go:build unix && !linux && !darwin

package process

import (
	"errors"
	"syscall"
)

// initialPIDSpace: there is only one.
const initialPIDSpace = ""

func bootID() string { return "" }

// pidSpace, timeSpace: there is only one of each.
func pidSpace() string { return "" }

func timeSpace() string { return "" }

// machine: none is read here.
func machine() string { return "" }

func look(pid int) Sighting {
	return Sighting{Gone: errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)}
}
