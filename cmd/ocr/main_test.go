package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asProgram turns the test binary into the program itself.
const asProgram = "OCR_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(start())
	}
	os.Exit(m.Run())
}

// asProcess is the program as a process of its own.
func asProcess(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// run is the program in this process, without any other ocr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer,
	getenv func(string) string, dir string) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: getenv, dir: dir}
	return a.run(ctx, args)
}

// answer is what one run of the program gave.
type answer struct {
	code           int
	stdout, stderr string
}

// call runs the program in dir, in this process.
func call(dir string, args ...string) answer {
	return callWith(dir, "", args...)
}

func callWith(dir, stdin string, args ...string) answer {
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), args, strings.NewReader(stdin), &stdout, &stderr,
		func(string) string { return "" }, dir)
	return answer{code, stdout.String(), stderr.String()}
}

// mustCall is call where the run must succeed.
func mustCall(t *testing.T, dir string, args ...string) answer {
	t.Helper()
	got := call(dir, args...)
	if got.code != exitOK {
		t.Fatalf("ocr %q ended with %d: %s", args, got.code, got.stderr)
	}
	return got
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// aProject is a project with one session, s.
func aProject(t *testing.T, dir string) string {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	mustCall(t, dir, "init")
	mustCall(t, dir, "state", "begin", "--session-id", "s", "--branch", "b", "--workflow-type", "review")
	return dir
}

// leaves are all commands that run, with a command line that can be
// understood for each; flags that need a value get one.
func leaves() map[*command][]string {
	values := map[string]string{
		"branch": "b", "workflow-type": "review", "phase": "context", "session-id": "s", "vendor": "v", "workflow": "s",
	}
	positional := map[string][]string{
		"ocr db query":               {"SELECT count(*) FROM sessions"},
		"ocr db restore":             {"ocr.db.bak.v14"},
		"ocr session bind-vendor-id": {"u", "v"},
		"ocr session beat":           {"u"},
		"ocr session end-instance":   {"u"},
		"ocr state complete-round":   {"--stdin"},
		"ocr state complete-map":     {"--stdin"},
		"ocr doctor":                 {"--engine-only"},
	}
	found := map[*command][]string{}
	var walk func(c *command)
	walk = func(c *command) {
		if c.exec != nil && c.path != "ocr" {
			line := strings.Fields(c.path)[1:]
			for name, value := range values {
				if c.flags.Lookup(name) != nil {
					line = append(line, "--"+name, value)
				}
			}
			found[c] = append(line, positional[c.path]...)
		}
		for _, verb := range c.verbs {
			walk(verb)
		}
	}
	walk(tree(&app{}))
	return found
}

// oneValue holds an answer under --json to exactly one JSON value, whose
// error, if it is one, has the exit code.
func oneValue(t *testing.T, what string, got answer) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(got.stdout))
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Errorf("%s: stdout %q is no JSON: %v", what, got.stdout, err)
		return
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Errorf("%s: stdout holds more than one value: %q", what, got.stdout)
	}
	if strings.ContainsRune(got.stdout+got.stderr, '\x1b') {
		t.Errorf("%s: a control sequence in %q %q", what, got.stdout, got.stderr)
	}
	var failed struct {
		SchemaVersion int `json:"schema_version"`
		Error         failure
	}
	_ = json.Unmarshal([]byte(got.stdout), &failed) // an array of rows is no failure
	if failed.Error.Code != got.code {
		t.Errorf("%s: exit %d, but stdout %q", what, got.code, got.stdout)
	}
	if got.code != exitOK && (failed.SchemaVersion != schemaVersion || failed.Error.Kind == "" || failed.Error.Message == "" || failed.Error.Hint == "") {
		t.Errorf("%s: the failure lacks a part: %q", what, got.stdout)
	}
}

// TestOneJSONValue runs every command under --json in projects of every
// state, rightly and wrongly.
func TestOneJSONValue(t *testing.T) {
	bare := t.TempDir()
	places := map[string]func(dir string){
		"NoProject":  func(string) {},
		"NoDatabase": func(dir string) { mustCall(t, dir, "init") },
		"Session":    func(dir string) { aProject(t, dir) },
		"Damaged": func(dir string) {
			must(t, os.WriteFile(filepath.Join(aProject(t, dir), ".ocr", "data", "ocr.db"), []byte("text, no database, but long enough"), 0o644))
		},
	}
	for name, make := range places {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(bare, name)
			must(t, os.Mkdir(dir, 0o755))
			make(dir)
			for _, line := range leaves() {
				oneValue(t, strings.Join(line, " "), call(dir, append(line, "--json")...))
			}
		})
	}
	for c, line := range leaves() {
		path := strings.Fields(c.path)[1:]
		for _, wrong := range [][]string{
			append(append([]string{"--json"}, path...), "--nope"), append(path, "--json", "--help"),
			append(path, "a", "b", "c", "--json"), append(line[:len(line):len(line)], "--json=perhaps"),
		} {
			oneValue(t, strings.Join(wrong, " "), call(bare, wrong...))
		}
	}
}

// destructive finds words of advice that would lose data.
var destructive = regexp.MustCompile(`(?i)\b(force|delete|rm |init)`)

// TestDamaged runs every command on projects whose database is gone, damaged
// or no database: nothing that is there changes, and no advice is one that
// would lose data.
func TestDamaged(t *testing.T) {
	damages := map[string]struct {
		do   func(file string) error
		kind string
	}{
		"MovedAway": {func(file string) error { return os.Rename(file, file+".elsewhere") }, "no_database"},
		"Garbage":   {func(file string) error { return os.WriteFile(file, bytes.Repeat([]byte("7k"), 2048), 0o644) }, "not_a_database"},
		"Folder":    {func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) }, "unreadable"},
		"Truncated": {func(file string) error { return os.Truncate(file, 4096*3) }, "corrupt"},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir := aProject(t, filepath.Join(base, "p"))
			file := filepath.Join(dir, ".ocr", "data", "ocr.db")
			must(t, damage.do(file))
			before := content(t, dir)
			for c, line := range leaves() {
				if name == "MovedAway" && (c.name == "begin" || c.name == "sync") {
					continue // these make a new one
				}
				got := call(dir, append(line, "--json")...)
				text := strings.ReplaceAll(got.stdout+got.stderr, base, "")
				if word := destructive.FindString(text); word != "" && c.name != "help" && c.name != "schema" {
					t.Errorf("%s says %q: %s", c.path, word, text)
				}
				if after := content(t, dir); after != before {
					t.Fatalf("%s changed the files:\n%q\nto\n%q", c.path, before, after)
				}
				if c.path == "ocr state status" && !strings.Contains(got.stdout, `"kind":"`+damage.kind+`"`) {
					t.Errorf("status says %s, not %s", got.stdout, damage.kind)
				}
			}
		})
	}
}

// content is every file and folder below dir, with its bytes.
func content(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path + "\n")
		if entry.Type().IsRegular() {
			text, err := os.ReadFile(path)
			must(t, err)
			b.Write(text)
		}
		return nil
	}))
	return b.String()
}
