package db

import (
	"os/exec"
	"testing"
)

// becomeNobody is never reached: nobody is root here.
func becomeNobody(*testing.T, *exec.Cmd) {}
