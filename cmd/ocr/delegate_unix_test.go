//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// otherProgram tells how it was called, and ends with a code of its own.
const otherProgram = `#!/bin/sh
printf '<%s>' "$@"
cat
echo "complaint of $1" >&2
exit 37
`

// aPath is a list of folders, each with what a test has put there.
type aPath struct {
	t    *testing.T
	base string
	dirs []string
}

func newPath(t *testing.T) *aPath { return &aPath{t: t, base: t.TempDir()} }

// add makes the next folder and returns the path of "ocr" in it.
func (p *aPath) add() string {
	dir := filepath.Join(p.base, string(rune('a'+len(p.dirs))))
	must(p.t, os.Mkdir(dir, 0o755))
	p.dirs = append(p.dirs, dir)
	return filepath.Join(dir, "ocr")
}

func (p *aPath) script(text string) string {
	path := p.add()
	must(p.t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

// copyOfUs is this program as another file.
func (p *aPath) copyOfUs() string {
	path := p.add()
	from, err := os.Open(os.Args[0])
	must(p.t, err)
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	must(p.t, err)
	_, err = io.Copy(to, from)
	must(p.t, err)
	must(p.t, to.Close())
	return path
}

// run runs the program file with that PATH.
func (p *aPath) run(file string, env []string, args ...string) answer {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), file, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.base, strings.NewReader("input"), &stdout, &stderr
	path := strings.Join(append(p.dirs, "/usr/bin", "/bin"), ":")
	cmd.Env = append(os.Environ(), append([]string{asProgram + "=1", "OCR_NO_DELEGATE=", "PATH=" + path}, env...)...)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code tells
	return answer{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestDelegate: a command that is not ours is run by the next ocr on PATH.
func TestDelegate(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	delegated := func(t *testing.T, got answer, words ...string) {
		t.Helper()
		want := answer{37, "<" + strings.Join(words, "><") + ">input", "complaint of " + words[0] + "\n"}
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	refused := func(t *testing.T, got answer) {
		t.Helper()
		if got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, "has no command") {
			t.Errorf("%+v", got)
		}
	}
	t.Run("Arguments", func(t *testing.T) {
		p := newPath(t)
		p.script(otherProgram)
		delegated(t, p.run(self, nil, "review", "--team", "a b", "", "--json", "--", "*"), "review", "--team", "a b", "", "--json", "--", "*")
		delegated(t, p.run(self, nil, "--json", "-C", "x", "update"), "--json", "-C", "x", "update")
		delegated(t, p.run(self, nil, "review", "--help"), "review", "--help")
		delegated(t, p.run(self, nil, "statsu"), "statsu")
		delegated(t, p.run(self, []string{"OCR_NO_DELEGATE=0"}, "host"), "host")
	})
	t.Run("Ours", func(t *testing.T) {
		p := newPath(t)
		p.script(otherProgram)
		for _, line := range [][]string{
			{"state", "review"}, {"db", "review"}, {"session", "review"}, {"help", "review"}, {"--", "review"}, {""},
		} {
			refused(t, p.run(self, nil, line...))
		}
		for _, line := range [][]string{{"--nope", "review"}, {"-C", "", "review"}, {"state", "begin", "review"}, {}} {
			if got := p.run(self, nil, line...); got.code != exitUsage || got.stdout != "" {
				t.Errorf("%q: %+v", line, got)
			}
		}
		if got := p.run(self, nil, "version"); got.code != exitOK || !strings.HasPrefix(got.stdout, "ocr ") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("SwitchedOff", func(t *testing.T) {
		p := newPath(t)
		p.script(otherProgram)
		refused(t, p.run(self, []string{"OCR_NO_DELEGATE=1"}, "review"))
		got := p.run(self, []string{"OCR_NO_DELEGATE=1"}, "statsu", "--json")
		oneValue(t, "statsu", got)
		if got.code != exitUsage || !strings.Contains(got.stderr, "did you mean ocr state?") || !strings.Contains(got.stderr, "init, state, session, db, doctor") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("Itself", func(t *testing.T) {
		p := newPath(t)
		must(t, os.Symlink(self, p.add()))
		must(t, os.Symlink(p.dirs[0]+"/ocr", p.add()))
		if err := os.Link(self, p.add()); err != nil {
			must(t, os.Symlink(self, p.dirs[2]+"/ocr")) // another disk
		}
		refused(t, p.run(p.dirs[0]+"/ocr", nil, "review"))
		p.script(otherProgram)
		delegated(t, p.run(p.dirs[0]+"/ocr", nil, "review", "x"), "review", "x")
	})
	t.Run("Copies", func(t *testing.T) {
		p := newPath(t)
		first := p.copyOfUs()
		p.copyOfUs()
		refused(t, p.run(first, nil, "review"))
		refused(t, p.run(self, nil, "review"))
		p.script(otherProgram)
		delegated(t, p.run(first, nil, "review", "x"), "review", "x")
	})
	t.Run("WrapperOfUs", func(t *testing.T) {
		for name, call := range map[string]string{
			"Child": `"` + self + `" "$@"; exit $?`, "Exec": `exec "` + self + `" "$@"`, "MoreAndMore": `exec "` + self + `" "$@" more`,
		} {
			p := newPath(t)
			p.script("#!/bin/sh\n" + call + "\n")
			refused(t, p.run(self, nil, "review"))
			if name == "MoreAndMore" {
				continue
			}
			p.script(otherProgram)
			delegated(t, p.run(self, nil, "review", "x"), "review", "x")
		}
	})
	t.Run("Nested", func(t *testing.T) {
		// What the other program runs may need it again.
		p := newPath(t)
		p.script("#!/bin/sh\n[ $1 = host ] && { echo reached; exit 5; }\n\"" + self + "\" host list\n")
		if got := p.run(self, nil, "review"); got.code != 5 || got.stdout != "reached\n" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("NotExecutable", func(t *testing.T) {
		p := newPath(t)
		must(t, os.WriteFile(p.add(), []byte(otherProgram), 0o644))
		must(t, os.Mkdir(p.add(), 0o755))
		must(t, os.Symlink("nowhere", p.add()))
		must(t, syscall.Mkfifo(p.add(), 0o644))
		refused(t, p.run(self, nil, "review"))
		p.script(otherProgram)
		delegated(t, p.run(self, nil, "review", "x"), "review", "x")
	})
	t.Run("WorkingDirectory", func(t *testing.T) {
		p := newPath(t)
		must(t, os.WriteFile(filepath.Join(p.base, "ocr"), []byte(otherProgram), 0o755))
		p.script(otherProgram)
		p.dirs = []string{"", ".", "a"}
		refused(t, p.run(self, nil, "review"))
	})
	t.Run("CannotRun", func(t *testing.T) {
		p := newPath(t)
		p.script("#!/nowhere/interpreter\n")
		got := p.run(self, nil, "--json", "review")
		oneValue(t, "review", got)
		if got.code != exitEnvironment || !strings.Contains(got.stdout, `"kind":"delegation"`) || !strings.Contains(got.stderr, p.dirs[0]+"/ocr") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("NoFirstLine", func(t *testing.T) {
		p := newPath(t)
		p.script(strings.TrimPrefix(otherProgram, "#!/bin/sh\n"))
		delegated(t, p.run(self, nil, "review", "x"), "review", "x")
	})
	t.Run("Signal", func(t *testing.T) {
		p := newPath(t)
		p.script("#!/bin/sh\nkill -TERM $$\nsleep 60\n")
		if got := p.run(self, nil, "review"); got.code != -1 {
			t.Errorf("%+v, want an end by the signal", got)
		}
	})
}

// TestIgnoredSignals: what the caller has switched off, as nohup does, stays
// switched off, in what is run instead of us too.
func TestIgnoredSignals(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	p := newPath(t)
	p.script("#!/bin/sh\nkill -HUP $$\necho survived\n")
	got := p.run("/bin/sh", nil, "-c", `trap "" HUP; exec "`+self+`" review`)
	if got.code != exitOK || got.stdout != "survived\n" {
		t.Errorf("%+v", got)
	}
}
