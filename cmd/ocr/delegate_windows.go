package main

import (
	"errors"
	"os"
	"os/exec"
)

// replaceProcess runs the other program on the same console, which hands it
// Ctrl-C as well, waits for its end and returns its exit code.
func replaceProcess(path string, argv, env []string) (int, error) {
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	return exitOK, err
}
