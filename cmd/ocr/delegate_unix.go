//go:build unix

package main

import (
	"errors"

	"golang.org/x/sys/unix"
)

// replaceProcess makes this process the other program, which then meets
// signals, terminal and parent as if it had been called itself. It returns
// only when that fails.
func replaceProcess(path string, argv, env []string) (int, error) {
	for {
		err := unix.Exec(path, argv, env)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOEXEC):
			// A script without a first line that names its shell: run it as
			// a shell does.
			err = unix.Exec("/bin/sh", append([]string{"sh"}, argv...), env)
		}
		return 0, err
	}
}
