package db

import "os/exec"

// becomeNobody is never reached: nobody is root here.
func becomeNobody(*exec.Cmd) {}
