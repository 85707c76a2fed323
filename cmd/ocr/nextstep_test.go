package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestHintsWork types the commands of hints into a shell, as they are printed,
// for sessions with names that a shell would take apart.
func TestHintsWork(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	base := t.TempDir()
	bin := filepath.Join(base, "bin")
	must(t, os.Mkdir(bin, 0o755))
	program, err := filepath.Abs(os.Args[0])
	must(t, err)
	must(t, os.Symlink(program, filepath.Join(bin, "ocr")))
	dir := filepath.Join(base, "p")
	must(t, os.Mkdir(dir, 0o755))
	mustCall(t, dir, "init")
	for _, id := range []string{"plain", "it's", "$(touch x) `touch x` ${HOME}", "a b  c", "!! # ~ (;)", "ünï", "{a,b} [c]", "%s&x"} {
		mustCall(t, dir, "state", "begin", "--session-id", id, "--branch", "it's $HOME", "--workflow-type", "review")
		typed := func(args ...string) {
			t.Helper()
			var failed struct{ Error failure }
			must(t, json.Unmarshal([]byte(call(dir, append(args, "--json")...).stdout), &failed))
			cmd := exec.Command(shell, "-c", failed.Error.Hint)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), asProgram+"=1", "PATH="+bin)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%q: typing %s: %v %s", id, failed.Error.Hint, err, out)
			}
		}
		typed("state", "finish", "--session-id", id)
		typed("state", "advance", "--session-id", id, "--phase", "reviews")
		typed("state", "begin", "--session-id", id, "--branch", "b", "--workflow-type", "review")
		mustCall(t, dir, "state", "finish", "--session-id", id, "--abort")
		typed("state", "advance", "--session-id", id, "--phase", "context")
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a shell ran a part of a name")
	}
}
