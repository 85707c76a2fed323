package doctor

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ocr/db"
)

// TestProbes: each probe is one reading statement that names its check, has a
// check, and finds nothing in a sound project, in the shell of a DBA too.
func TestProbes(t *testing.T) {
	files, err := fs.Glob(statements, "probes/*.sql")
	must(t, err)
	var known []string
	for _, s := range specs() {
		if s.probe {
			known = append(known, "probes/"+s.probeFile())
		}
	}
	slices.Sort(known)
	if !slices.Equal(files, known) {
		t.Errorf("files %v\nchecks %v (edit internal/doctor/catalog.go)", files, known)
	}
	p := soundProject(t)
	shell, noShell := exec.LookPath("sqlite3")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := statements.ReadFile(file)
			must(t, err)
			id := strings.Replace(strings.TrimSuffix(filepath.Base(file), ".sql"), "_", ".", 1)
			if !strings.HasPrefix(string(text), "-- "+id+": ") {
				t.Errorf("%s does not begin with its check, %s", file, id)
			}
			for line := range strings.Lines(string(text)) {
				if len(strings.TrimRight(line, "\n")) > 80 || strings.ContainsFunc(line, func(r rune) bool { return r > 126 }) {
					t.Errorf("too long, or not ASCII: %s", line)
				}
			}
			must(t, db.ReadOnlyStatement(string(text)))
			if noShell != nil {
				t.Skip("no sqlite3 shell on this machine")
			}
			cmd := exec.Command(shell, "-readonly", "-bail", p.Database())
			cmd.Stdin = strings.NewReader(string(text))
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("the shell says %v: %s", err, out)
			}
		})
	}
}

// TestDocument: docs/doctor.md lists every check with its probe, and no other.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "doctor.md"))
	must(t, err)
	var listed, want []string
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 4 && strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			listed = append(listed, strings.TrimSpace(line))
		}
	}
	for _, e := range Catalog() {
		probe := ""
		if e.Probe != "" {
			probe = "[sql](../internal/doctor/probes/" + e.Probe + ")"
		}
		want = append(want, strings.TrimSpace("| `"+e.ID+"` | "+e.Expected+" | "+e.Why+" | "+e.Fix+" | "+probe+" |"))
	}
	for i, line := range want {
		if i >= len(listed) || listed[i] != line {
			t.Errorf("docs/doctor.md should have here:\n%s", line)
		}
	}
	if len(listed) != len(want) {
		t.Errorf("docs/doctor.md lists %d checks, there are %d", len(listed), len(want))
	}
}
