package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMigrationScript runs scripts/migration-dry-run.sh as a CI job does.
func TestMigrationScript(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine", tool)
		}
	}
	script, err := filepath.Abs(filepath.Join(root, "scripts", "migration-dry-run.sh"))
	must(t, err)
	program, err := filepath.Abs(os.Args[0])
	must(t, err)
	dir := aProject(t, t.TempDir())
	good := filepath.Join(dir, ".ocr", "data", "ocr.db")
	const odd = `odd | "<name>.db`
	must(t, os.WriteFile(filepath.Join(dir, odd), []byte(strings.Repeat("text ", 999)), 0o644))

	run := func(args ...string) (string, int) {
		cmd := exec.Command(script, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), asProgram+"=1", "OCR="+program)
		out, err := cmd.Output()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"Usage", nil, 2, nil},
		{"Format", []string{"--format", "text", good}, 2, nil},
		{"Help", []string{"--help"}, 0, []string{"usage: ", "--project DIR"}},
		{"UnknownFlag", []string{"--fix", good}, 2, nil},
		{"NoFile", []string{"--project", dir}, 2, nil},
		{"Project", []string{"--project", dir, "--format", "markdown", good}, 0, []string{"1 files, 0 would fail"}},
		{"NotAProject", []string{"--project", "/", good}, 1, []string{"| FAIL: "}},
		{"Sound", []string{good}, 0, []string{"| 0 | 0 |", "| ok |", "1 files, 0 would fail"}},
		{"Markdown", []string{good, odd}, 1, []string{"| ok |", `| odd \| "<name>.db | ? |`, "| FAIL: ", "2 files, 1 would fail"}},
		{"JUnit", []string{"--format", "junit", good, odd}, 1, []string{`tests="2" failures="1"`, `name='odd | "&lt;name&gt;.db'`, "<failure message="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, code := run(c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, out)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}
