package db

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func fileLines(t *testing.T, file string) []string {
	t.Helper()
	body, err := os.ReadFile(file)
	must(t, err)
	return strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
}

var (
	sqlWords = regexp.MustCompile(`(?i)\b(select|insert|update|delete|from|where|values|create|table|view|trigger|index|unique|primary|references|default|check|null|and|or|in|exists|case|when|then|else|end|begin|before|after|join|left|inner|on|as|with|union|group|order|by|limit|having|distinct|raise|cast|collate|conflict|returning|partition|over|window|set|drop|alter|add|column|rename|into|like|glob|between|asc|desc)\b`)
	literals = regexp.MustCompile(`'[^']*'`)
	created  = regexp.MustCompile(`^CREATE (TABLE|VIEW|TRIGGER) "?(\w+)`)
	aColumn  = regexp.MustCompile(`^    (\w+) (TEXT|INTEGER)\b`)
	// What a column name says without words.
	plainColumn = regexp.MustCompile(`^(id|\w+_id|\w*path|title|name|description|content|role|severity|persona|vendor|target_type|status|lines_added|lines_deleted)$`)
)

// TestSQLStyle holds the SQL files to the habits of the house. A line is at
// most 80 characters long; a RAISE may be longer, because its text is one
// literal that other programs compare.
func TestSQLStyle(t *testing.T) {
	steps, err := filepath.Glob("schema/*.sql")
	must(t, err)
	queries, err := filepath.Glob("queries/*.sql")
	must(t, err)
	if len(steps) < 25 || len(queries) < 5 {
		t.Fatalf("%d steps and %d query files", len(steps), len(queries))
	}
	for _, file := range slices.Concat(steps, queries) {
		for i, line := range fileLines(t, file) {
			wrong := func(format string) { t.Errorf("%s:%d %s: %s", file, i+1, format, line) }
			if strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' }) {
				wrong("holds more than plain ASCII")
			}
			if len(line) > 80 && !strings.Contains(line, "RAISE(ABORT, '") {
				wrong("is longer than 80")
			}
			if strings.TrimRight(line, " ") != line {
				wrong("ends with a blank")
			}
			code, _, _ := strings.Cut(literals.ReplaceAllString(line, "''"), "--")
			code, _, _ = strings.Cut(code, "/*")
			if strings.Contains(code, "*/") {
				continue
			}
			for _, word := range sqlWords.FindAllString(code, -1) {
				if word != strings.ToUpper(word) && !strings.Contains(code, "sqlc.arg("+word) {
					wrong("writes a key word small (" + word + ")")
				}
			}
		}
	}
	for _, file := range steps {
		lines := fileLines(t, file)
		at := 0
		for _, part := range []string{"-- What:  ", "-- Why:   ", "-- Rows:  ", "-- Back:  "} {
			place := slices.IndexFunc(lines[at:], func(line string) bool { return strings.HasPrefix(line, part) })
			if place < 0 || at == 0 && place != 0 {
				t.Errorf("%s: the header lacks %q in its place", file, part)
				break
			}
			at += place + 1
		}
	}
	for _, file := range queries {
		for _, block := range queryBlocks(t, file) {
			if len(block.doc) == 0 {
				t.Errorf("%s: %q has no description", file, block.header)
			}
		}
	}
}

// TestSchemaExplainsItself wants a comment inside every object whose meaning
// its name does not carry, where the database keeps it.
func TestSchemaExplainsItself(t *testing.T) {
	p, seen := newPrompt(t), 0
	for _, line := range p.rows(t, "SELECT replace(sql, char(10), char(30)) FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger') AND name NOT LIKE 'sqlite%' ORDER BY name") {
		text := strings.ReplaceAll(line, "\x1e", "\n")
		match := created.FindStringSubmatch(text)
		if match == nil {
			t.Errorf("not readable: %s", text)
			continue
		}
		seen++
		if !strings.Contains(text, "--") && !(match[1] == "TRIGGER" && strings.Contains(text, "RAISE(ABORT")) {
			t.Errorf("%s %s says nothing about itself", match[1], match[2])
		}
		if match[1] != "TABLE" {
			continue
		}
		before := ""
		for row := range strings.SplitSeq(text, "\n") {
			column := aColumn.FindStringSubmatch(row)
			if column != nil && !strings.Contains(before, "--") && !strings.Contains(row, "/*") && !plainColumn.MatchString(column[1]) {
				t.Errorf("%s.%s has no comment", match[2], column[1])
			}
			before = row
		}
	}
	if seen < 40 {
		t.Errorf("only %d objects seen", seen)
	}
}
