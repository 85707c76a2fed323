package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme pastes the first commands of README.md, as they stand there, into
// the shell of somebody who has a fresh git repository.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("no %s on this machine: README asks for it", tool)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	must(t, err)
	_, rest, found := strings.Cut(string(text), "\n## A review in seven commands\n")
	_, rest, opened := strings.Cut(rest, "\n```\n")
	commands, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !opened || !closed || strings.Count("\n"+commands, "\nocr ")+strings.Count("\n"+commands, "\nfor ") != 7 {
		t.Fatalf("no seven commands in README.md (%t, %t, %t):\n%s", found, opened, closed, commands)
	}
	base := t.TempDir()
	program, err := filepath.Abs(os.Args[0])
	must(t, err)
	must(t, os.Symlink(program, filepath.Join(base, "ocr")))
	shell := exec.Command("sh", "-e", "-c", "git init -q shop; cd shop\n"+commands)
	shell.Dir = base
	shell.Env = append(os.Environ(), asProgram+"=1", "PATH="+base+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	got := mustCall(t, filepath.Join(base, "shop"), "state", "status", "--session-id", "2026-03-02-cart", "--json")
	if !strings.Contains(got.stdout, `"completeness_state":"complete"`) || !strings.Contains(got.stdout, `"verdict":"REQUEST CHANGES","blocker_count":1`) {
		t.Errorf("%s\n%s", got.stdout, out)
	}
}
