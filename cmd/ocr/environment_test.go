package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// TestEnvironment: ocr help environment and the code name the same variables,
// and no flag takes its value from another one by accident.
func TestEnvironment(t *testing.T) {
	name := regexp.MustCompile(`^"(OCR_[A-Z_]+)"$`)
	read := map[string]bool{}
	for _, file := range sources(t, "cmd/ocr/*.go", "internal/*/*.go", "db/*.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if found := name.FindStringSubmatch(lit.Value); found != nil {
					read[found[1]] = true
				}
			}
			return true
		})
	}
	for variable := range read {
		if !strings.Contains(environment(), variable+" ") {
			t.Errorf("ocr help environment does not name %s (edit environment in cmd/ocr/cmd_help.go)", variable)
		}
	}
	for _, variable := range regexp.MustCompile(`OCR_[A-Z_]+`).FindAllString(environment(), -1) {
		if !read[variable] {
			t.Errorf("ocr help environment names %s, which nobody reads", variable)
		}
	}
	// Every other variable is set; nothing asks for one.
	dir := aProject(t, t.TempDir())
	quiet := mustCall(t, dir, "state", "list", "--json")
	var stdout, stderr strings.Builder
	code := run(t.Context(), []string{"state", "list"}, strings.NewReader(""), &stdout, &stderr, func(variable string) string {
		switch {
		case read[variable], variable == "PATH", variable == "TMPDIR", variable == "HOME", variable == "NO_COLOR":
			return ""
		}
		t.Errorf("%s was asked for", variable)
		return "1"
	}, dir)
	if code != exitOK || stdout.String() == quiet.stdout {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}
