package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
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

// sources parses the code of these rooms, without tests.
func sources(t *testing.T, patterns ...string) map[string]*ast.File {
	t.Helper()
	parsed := map[string]*ast.File{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		must(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed[file], err = parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			must(t, err)
		}
	}
	if len(parsed) == 0 {
		t.Fatalf("no code in %v", patterns)
	}
	return parsed
}

// queryHolders are the names under which the code holds the generated queries.
var queryHolders = []string{"q", "tx", "r", "reader", "Queries"}

// TestEveryQuery walks db/gen: each generated query has a caller, which names
// it behind one of queryHolders.
func TestEveryQuery(t *testing.T) {
	called := map[string]bool{}
	for _, file := range sources(t, "db/*.go", "internal/*/*.go", "cmd/ocr/*.go") {
		ast.Inspect(file, func(node ast.Node) bool {
			if chosen, is := node.(*ast.SelectorExpr); is {
				holder := ""
				switch x := chosen.X.(type) {
				case *ast.Ident:
					holder = x.Name
				case *ast.SelectorExpr:
					holder = x.Sel.Name
				}
				if slices.Contains(queryHolders, holder) {
					called[chosen.Sel.Name] = true
				}
			}
			return true
		})
	}
	seen := 0
	for path, file := range sources(t, "db/gen/*.sql.go") {
		for _, declared := range file.Decls {
			method, is := declared.(*ast.FuncDecl)
			if !is || method.Recv == nil {
				continue
			}
			seen++
			if !called[method.Name.Name] {
				t.Errorf("nobody calls %s: take it out of db/queries/%s and run make generate; whoever holds the queries calls them one of %v",
					method.Name.Name, strings.TrimSuffix(filepath.Base(path), ".go"), queryHolders)
			}
		}
	}
	if seen == 0 {
		t.Error("no query was seen in db/gen")
	}
}
