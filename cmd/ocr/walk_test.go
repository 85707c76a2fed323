package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
