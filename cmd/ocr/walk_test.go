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
	var scripts strings.Builder
	files, err := filepath.Glob("testdata/script/*.txtar")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		scripts.Write(append(text, '\n'))
	}
	shown := func(c *command, code int) bool {
		run := fmt.Sprintf("exit %d ocr", code)
		if code == exitOK {
			run = "(exit 0 )?ocr"
		}
		return regexp.MustCompile(`(?m)^` + run + regexp.QuoteMeta(strings.TrimPrefix(c.path, "ocr")) + `( |$)`).MatchString(scripts.String())
	}
	var walk func(c *command)
	walk = func(c *command) {
		fault := func(what string) {
			t.Errorf("%s: %s (edit the file of its constructor in cmd/ocr)", c.path, what)
		}
		if c.synopsis == "" || strings.Contains(c.synopsis, "\n") {
			fault("the synopsis must be one line")
		}
		if c.example == "" {
			fault("an example is missing")
		}
		for line := range strings.Lines(c.example) {
			if !strings.HasPrefix(line, "ocr ") {
				fault("the example line does not start with \"ocr \": " + line)
			}
		}
		if !slices.Contains(c.exits, exitUsage) || (c.exec != nil && !slices.Contains(c.exits, exitOK)) {
			fault("exit codes are missing: every command can return 0 and 2, a group 2")
		}
		if !slices.IsSorted(c.exits) {
			fault("exit codes are not in order")
		}
		for _, code := range c.exits {
			// Busy comes after a wait that is too long for a script: TestBusy.
			if code != exitBusy && !shown(c, code) {
				t.Errorf("%s: no script shows exit code %d (add it to a file in cmd/ocr/testdata/script)", c.path, code)
			}
		}
		c.flags.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" {
				fault("no meaning given for the flag " + f.Name)
			}
		})
		for _, verb := range c.verbs {
			walk(verb)
		}
	}
	walk(tree(&app{}))
}
