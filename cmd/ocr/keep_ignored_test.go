package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeepIgnored: every verb that writes makes the file again that keeps git
// away from the database, no verb that reads does, and what stands there stays.
func TestKeepIgnored(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	path := filepath.Join(dir, ".ocr", "data", ".gitignore")
	const session = "--session-id=s"
	for _, line := range []string{
		"state begin --session-id other --branch b --workflow-type map", "state advance --phase change-context " + session,
		"state resume --session-id other", "state finish --abort --session-id other", "state sync", "state sweep", "state reconcile",
		"session start-instance --vendor v --workflow s", "db migrate", "db snapshot", "db checkpoint", "db vacuum", "db prune --keep-sessions 100",
		"db doctor --fix", "db prune-snapshots --keep 5", "init",
	} {
		must(t, os.Remove(path))
		_ = call(dir, strings.Fields(line)...)
		if text, err := os.ReadFile(path); err != nil || string(text) != "*\n" {
			t.Errorf("after %s: %q %v", line, text, err)
			must(t, os.WriteFile(path, nil, 0o644))
		}
	}
	must(t, os.Remove(path))
	for _, line := range []string{"state status " + session, "state list", "state show", "db status", "db snapshots", "db verify", "doctor", "session list", "state sweep --dry-run", "state reconcile --dry-run", "db migrate --dry-run"} {
		_ = call(dir, strings.Fields(line)...)
		if _, err := os.Lstat(path); err == nil {
			t.Fatalf("%s made %s", line, path)
		}
	}
	must(t, os.WriteFile(path, []byte("mine"), 0o644))
	mustCall(t, dir, "state", "sweep")
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("%q %v", text, err)
	}
}

// TestKeepIgnored_Warns: a verb that writes says once what in the place of that
// file lets git take the database, and leaves it; a longer file with the line is
// fine, and the next command of doctor adds it.
func TestKeepIgnored_Warns(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	path := filepath.Join(dir, ".ocr", "data", ".gitignore")
	warnings := func(line string) int {
		return strings.Count(call(dir, strings.Fields(line)...).stderr, "warning: git may take the folder")
	}
	lines := []string{"state sweep", "db doctor --fix", "db snapshot", "db vacuum", "init"}
	for name, put := range map[string]func() error{
		"empty":  func() error { return os.WriteFile(path, nil, 0o644) },
		"other":  func() error { return os.WriteFile(path, []byte("*.tmp\n# *\n"), 0o644) },
		"folder": func() error { return os.Mkdir(path, 0o755) },
		"link": func() error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "mine"), []byte("*\n"), 0o644), os.Symlink(filepath.Join(dir, "mine"), path))
		},
	} {
		must(t, os.RemoveAll(path))
		must(t, put())
		for _, line := range lines {
			if n := warnings(line); n != 1 {
				t.Errorf("%s: %s warns %d times", name, line, n)
			}
		}
		if n := warnings("state list"); n != 0 {
			t.Errorf("%s: a verb that reads warns", name)
		}
	}
	must(t, os.RemoveAll(path))
	for _, text := range []string{"# mine\nnotes\r\n* \r\n!keep\n", "*"} {
		must(t, os.WriteFile(path, []byte(text), 0o644))
		for _, line := range lines {
			if n := warnings(line); n != 0 {
				t.Errorf("%q: %s warns", text, line)
			}
		}
	}
}

// TestStashKeepsDatabase: git stash -u, twice, and git clean leave the database
// and its sessions where they are.
func TestStashKeepsDatabase(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("no git on this machine: README asks for it")
	}
	dir := t.TempDir()
	in := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	in("init", "-q")
	in("commit", "-q", "--allow-empty", "-m", "c")
	aProject(t, dir)
	for range 2 {
		must(t, os.WriteFile(filepath.Join(dir, "work"), nil, 0o644))
		in("stash", "-u")
		in("clean", "-fd")
		mustCall(t, dir, "state", "status", "--session-id", "s")
	}
}
