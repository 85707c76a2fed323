//go:build unix && !linux && !darwin

package process

import (
	"errors"
	"syscall"
)

// initialPIDSpace: there is only one.
const initialPIDSpace = ""

func bootID() string { return "" }

func pidSpace() string { return "" }

func look(pid int) Sighting {
	return Sighting{Gone: errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)}
}
