package lifecycle_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ocr/internal/lifecycle"
)

// TestEveryRule walks db/schema: each text that a trigger raises has a kind,
// and each kind belongs to a text.
func TestEveryRule(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "db", "schema", "*.up.sql"))
	must(t, err)
	raise := regexp.MustCompile(`RAISE\s*\(\s*(?:ABORT|FAIL|ROLLBACK)\s*,\s*'((?:[^']|'')*)'`)
	raised := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, match := range raise.FindAllStringSubmatch(string(text), -1) {
			rule := strings.ReplaceAll(match[1], "''", "'")
			raised[rule] = true
			if lifecycle.RuleKinds[rule] == "" {
				t.Errorf("%s raises %q, which has no kind (edit RuleKinds in internal/lifecycle/errors.go)", filepath.Base(file), rule)
			}
		}
	}
	for rule := range lifecycle.RuleKinds {
		if !raised[rule] {
			t.Errorf("no trigger raises %q (edit RuleKinds in internal/lifecycle/errors.go)", rule)
		}
	}
}
