package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

// TestImports: imports point one way, cmd/ocr -> internal -> db -> db/gen, and
// only db knows the driver and golang-migrate.
func TestImports(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir = root
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	height := func(path string) int {
		switch {
		case path == "ocr/db/gen":
			return 0
		case path == "ocr/db":
			return 1
		case strings.HasPrefix(path, "ocr/internal/"):
			return 2
		}
		return 3
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		for _, imported := range paths[1:] {
			from := height(paths[0])
			switch {
			case strings.HasPrefix(imported, "ocr/"):
				seen++
				if to := height(imported); to > from || to == from && from != 2 {
					t.Errorf("%s imports %s: turn it round, or move the code (ARCHITECTURE.md)", paths[0], imported)
				}
			case from != 1 && (strings.HasPrefix(imported, "modernc.org/sqlite") || strings.HasPrefix(imported, "github.com/golang-migrate/")):
				t.Errorf("%s imports %s: only package db may", paths[0], imported)
			}
		}
	}
	if seen == 0 {
		t.Errorf("no import of the module's own was seen in %q", out)
	}
}

// TestEveryQuery walks db/gen: each generated query has a caller.
func TestEveryQuery(t *testing.T) {
	generated, err := filepath.Glob(filepath.Join(root, "db", "gen", "*.sql.go"))
	must(t, err)
	var code strings.Builder
	for _, pattern := range []string{"db/*.go", "internal/*/*.go", "cmd/ocr/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		must(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			must(t, err)
			code.Write(text)
		}
	}
	method := regexp.MustCompile(`(?m)^func \(q \*Queries\) (\w+)\(`)
	seen := 0
	for _, file := range generated {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, match := range method.FindAllStringSubmatch(string(text), -1) {
			seen++
			if !regexp.MustCompile(`\.` + match[1] + `\b`).MatchString(code.String()) {
				t.Errorf("nobody calls %s: take it out of db/queries/%s and run make generate", match[1], strings.TrimSuffix(filepath.Base(file), ".go"))
			}
		}
	}
	if seen == 0 {
		t.Error("no query was seen in db/gen")
	}
}
