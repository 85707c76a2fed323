package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestEveryCommand walks the tree: each command says what it does, with an
// example, its exit codes and a meaning for every flag; and a script shows
// each of those codes.
func TestEveryCommand(t *testing.T) {
	scripts := allScripts(t)
	var walk func(c *command)
	walk = func(c *command) {
		fault := func(format string, args ...any) {
			t.Errorf("%s: %s (edit the file of its constructor in cmd/ocr)", c.path, fmt.Sprintf(format, args...))
		}
		if c.synopsis == "" || strings.Contains(c.synopsis, "\n") {
			fault("the synopsis must be one line")
		}
		for line := range strings.Lines(c.example + "\n") {
			if !strings.HasPrefix(line, "ocr ") {
				fault("the example line %q does not start with \"ocr \"", line)
			}
		}
		if !slices.IsSorted(c.exits) || !slices.Contains(c.exits, exitUsage) || c.exec != nil && c.exits[0] != exitOK {
			fault("the exit codes stand in order; every command can return 0 and 2, a group 2")
		}
		for _, code := range c.exits {
			// Busy comes after a wait that is too long for a script: TestBusy.
			if code != exitBusy && !shown(scripts, c, code) {
				fault("no file in testdata/script shows its exit code %d", code)
			}
		}
		c.flags.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" {
				fault("the flag %s has no meaning", f.Name)
			}
		})
		for _, verb := range c.verbs {
			walk(verb)
		}
	}
	walk(tree(&app{}))
}

// allScripts is the text of every script.
func allScripts(t *testing.T) string {
	t.Helper()
	var scripts strings.Builder
	files, err := filepath.Glob("testdata/script/*.txtar")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		scripts.Write(append(text, '\n'))
	}
	return scripts.String()
}

// shown reports whether a script runs the command to that exit code.
func shown(scripts string, c *command, code int) bool {
	run := fmt.Sprintf("exit %d ocr", code)
	if code == exitOK {
		run = "(exit 0 )?ocr"
	}
	return regexp.MustCompile(`(?m)^` + run + regexp.QuoteMeta(strings.TrimPrefix(c.path, "ocr")) + `( |$)`).MatchString(scripts)
}

// TestEmptyPath: a path that is empty, as a variable that nobody has set, is
// refused by every command, and nothing is read or made instead.
func TestEmptyPath(t *testing.T) {
	dir := aProject(t, t.TempDir())
	before := content(t, dir)
	seen := 0
	for c, line := range leaves() {
		c.flags.VisitAll(func(f *flag.Flag) {
			if place, _ := flag.UnquoteUsage(f); place != "PATH" && place != "FILE" && place != "DIR" {
				return
			}
			seen++
			for _, empty := range [][]string{{dashed(f.Name), ""}, {dashed(f.Name) + "="}} {
				got := call(dir, append(slices.Clone(line), empty...)...)
				if got.code != exitUsage || got.stdout != "" {
					t.Errorf("%q: %+v", append(line, empty...), got)
				}
			}
		})
	}
	if seen <= len(leaves()) || content(t, dir) != before {
		t.Errorf("%d flags seen, or something was made", seen)
	}
}

// TestResultNotWritten: a command whose result cannot be written has failed,
// and says so, whatever it is.
func TestResultNotWritten(t *testing.T) {
	dir := aProject(t, t.TempDir())
	for c, line := range leaves() {
		for _, how := range [][]string{line, append(slices.Clone(line), "--json"), append(slices.Clone(line), "--help")} {
			var stderr bytes.Buffer
			full := &fullDisk{}
			code := run(t.Context(), how, strings.NewReader(""), full, &stderr, func(string) string { return "" }, dir)
			if full.asked && (code == exitOK || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) && !strings.Contains(stderr.String(), "error: ")) {
				t.Errorf("%s %q: exit %d, stderr %q", c.path, how, code, stderr.String())
			}
			if !full.asked && code == exitOK && c.name != "list" && c.name != "events" {
				t.Errorf("%s %q succeeds without a result", c.path, how)
			}
		}
	}
}
