package main

import (
	"os/exec"
	"testing"
)

// becomeNobody cannot: Windows keeps no permissions of this kind.
func becomeNobody(t *testing.T, _ *exec.Cmd) {
	t.Skip("needs Unix permissions")
}
