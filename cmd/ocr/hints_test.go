package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// namedCommand is a command in a text: its words, then its flags.
var namedCommand = regexp.MustCompile(`\bocr((?: [a-z][a-z-]*)+)((?: (?:\[|\()?--?[A-Za-z][a-z-]*[^ ]*)*)`)

var flagName = regexp.MustCompile(`--?([A-Za-z][a-z-]*)`)

// TestCommandsInTexts: a command that any text of the program names, such as a
// hint, is in the tree, and takes the flags that stand behind its name.
func TestCommandsInTexts(t *testing.T) {
	tree := tree(&app{})
	names := func(c *command, word string) *command {
		i := slices.IndexFunc(c.verbs, func(verb *command) bool { return verb.name == word })
		if i < 0 {
			return nil
		}
		return c.verbs[i]
	}
	checked, withFlags := 0, 0
	check := func(at, text string) {
		for _, found := range namedCommand.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
			words := strings.Fields(found[1])
			c := names(tree, words[0])
			if c == nil {
				continue // "ocr keeps ..." is no command
			}
			n := 1
			for ; n < len(words) && c.isGroup(); n++ {
				verb := names(c, words[n])
				if verb == nil {
					t.Errorf("%s names %q, which is no command: %q", at, "ocr "+strings.Join(words[:n+1], " "), found[0])
					break
				}
				c = verb
			}
			checked++
			if c.isGroup() {
				continue
			}
			for _, flag := range flagName.FindAllStringSubmatch(found[2], -1) {
				withFlags++
				if flag[1] != "help" && flag[1] != "h" && c.flags.Lookup(flag[1]) == nil {
					t.Errorf("%s names %q, but %s has no flag %s", at, found[0], c.path, flag[0])
				}
			}
		}
	}
	files := token.NewFileSet()
	for _, room := range []string{"cmd", "db", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				must(t, err)
				check(files.Position(literal.Pos()).String(), text)
				return true
			})
			return nil
		})
		must(t, err)
	}
	if checked < 80 || withFlags < 10 {
		t.Errorf("only %d commands and %d flags were found in the texts", checked, withFlags)
	}
}

// TestHintsOfRefusals types the commands of hints, for refusals whose hints are
// more than one command of the refused verb.
func TestHintsOfRefusals(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := aProject(t, base)
	mustCall(t, dir, "state", "begin", "--session-id", "r", "--branch", "b", "--workflow-type", "review")
	damaged := damagedCopy(t, dir)
	half := filepath.Join(base, "half.db")
	pool := openFile(t, filepath.Join(dir, ".ocr", "data", "ocr.db"))
	execute(t, pool, "VACUUM INTO '"+half+"'")
	must(t, pool.Close())
	pool = openFile(t, half)
	execute(t, pool, "DELETE FROM schema_migrations; INSERT INTO schema_migrations VALUES (20, 0)")
	must(t, pool.Close())
	for name, c := range map[string]struct {
		sql  string
		args []string
		want []string // commands that the hint names
	}{
		"OtherWorkflow":    {"", []string{"state", "begin", "--session-id", "r", "--branch", "b", "--workflow-type", "map"}, []string{"ocr state status --session-id=r"}},
		"OtherCompletion":  {"", []string{"state", "complete-map", "--session-id", "r", "--stdin"}, []string{"ocr state status --session-id=r"}},
		"Constraint":       {"CREATE UNIQUE INDEX theirs ON sessions(branch) WHERE id IN ('r', 't')", []string{"state", "begin", "--session-id", "t", "--branch", "b", "--workflow-type", "review"}, []string{"ocr doctor --check schema"}},
		"Damaged":          {"", []string{"db", "query", "SELECT count(*) FROM sessions", "--db", damaged}, []string{"ocr db snapshots --db " + damaged, "ocr db recover saved.db --db " + damaged}},
		"DamagedStatus":    {"", []string{"db", "status", "--exit-code", "--db", damaged}, []string{"ocr db snapshots --db " + damaged}},
		"HalfUpgradedFlag": {"", []string{"db", "status", "--exit-code", "--db", half}, []string{"ocr db verify --db " + half}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.sql != "" {
				pool := openFile(t, filepath.Join(dir, ".ocr", "data", "ocr.db"))
				execute(t, pool, c.sql)
				must(t, pool.Close())
			}
			got := callWith(dir, `{"schema_version":1,"sections":[]}`, c.args...)
			_, hint, _ := strings.Cut(got.stderr, "next: ")
			if got.code == exitOK || got.stdout != "" && !strings.HasPrefix(c.args[0], "db") {
				t.Errorf("%+v", got)
			}
			for _, command := range c.want {
				if !strings.Contains(hint, command) {
					t.Errorf("%s is not in the hint: %s", command, hint)
				}
				if typed := call(dir, strings.Fields(command)[1:]...); typed.code > exitEnvironment || strings.Contains(typed.stderr, "usage") {
					t.Errorf("%s: %+v", command, typed)
				}
			}
		})
	}
}

// damagedCopy is a copy of the database of dir whose inner pages are lost.
func damagedCopy(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged.db")
	pool := openFile(t, filepath.Join(dir, ".ocr", "data", "ocr.db"))
	execute(t, pool, "VACUUM INTO '"+path+"'")
	must(t, pool.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	for i := 2 * 4096; i < min(len(content), 40*4096); i++ {
		content[i] = 'Z'
	}
	must(t, os.WriteFile(path, content, 0o644))
	return path
}
