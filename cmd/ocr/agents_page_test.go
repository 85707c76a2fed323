package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// agent gives commands as the page for agents tells it to: each in a new
// shell, as printed but for the words that stand for something.
type agent struct {
	t     *testing.T
	dir   string
	env   []string
	words map[string]string
	calls int
}

// upperCase is a word of the page that stands for something, or a variable.
var upperCase = regexp.MustCompile(`\$?\b[A-Z]+\b`)

// line is a command of the page as the agent gives it.
func (a *agent) line(printed string) string {
	return upperCase.ReplaceAllStringFunc(printed, func(word string) string {
		if value, ok := a.words[word]; ok {
			return value
		}
		return word
	})
}

// run returns what the command printed; want is its exit code.
func (a *agent) run(line string, want int) []byte {
	a.t.Helper()
	a.calls++
	cmd := exec.Command("sh", "-c", a.line(line))
	cmd.Dir, cmd.Env = a.dir, a.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != want {
		a.t.Fatalf("%s\nended with %d, want %d: %s%s", a.line(line), got, want, out, stderr.String())
	}
	return out
}

// TestAgentsPage runs every command of docs/agents.md as printed: one whole
// round, and the ways back of an agent that knows only the id.
func TestAgentsPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/agents.md")
	must(t, err)
	if lines := strings.Count(string(text), "\n"); lines > 40 {
		t.Errorf("the page has %d lines, at most 40 are read", lines)
	}
	used := map[string]bool{}
	page := map[string]string{}
	for _, match := range regexp.MustCompile("`(ocr [^`]+)`").FindAllStringSubmatch(string(text), -1) {
		words := strings.Fields(match[1])
		page[words[2]], used[match[1]] = match[1], false
	}
	command := func(verb string) string {
		if page[verb] == "" {
			t.Fatalf("the page does not say how to %s", verb)
		}
		used[page[verb]] = true
		return page[verb]
	}

	root := t.TempDir()
	bin := filepath.Join(root, "bin")
	must(t, os.Mkdir(bin, 0o755))
	self, err := os.Executable()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(bin, "ocr"), []byte("#!/bin/sh\n"+asProgram+"=1 exec '"+self+"' \"$@\"\n"), 0o755))
	dir := filepath.Join(root, "p")
	must(t, os.Mkdir(dir, 0o755))
	mustCall(t, dir, "init")
	fresh := func() *agent {
		return &agent{
			t: t, dir: dir, env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH")),
			words: map[string]string{"ID": "cart", "BRANCH": "feat/cart", "VENDOR": "claude"},
		}
	}
	var step struct {
		Phase       string   `json:"phase"`
		ArtifactDir string   `json:"artifact_dir"`
		Kind        string   `json:"next_action_kind"`
		Argv        []string `json:"next_argv"`
	}
	read := func(out []byte) {
		t.Helper()
		must(t, json.Unmarshal(out, &step))
	}
	payload := `{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`

	a := fresh()
	read(a.run(command("begin"), exitOK))
	a.words["UID"] = strings.TrimSpace(string(a.run(command("start-instance"), exitOK)))
	for step.Kind == "advance" {
		phase := step.Argv[len(step.Argv)-1]
		a.words["PHASE"] = phase
		read(a.run(command("advance"), exitOK))
		if phase != step.Phase {
			t.Fatalf("the session is in %s after the step to %s", step.Phase, phase)
		}
		if phase == "reviews" {
			// Its memory is gone: the session says that the round is its own.
			lost := fresh()
			read(lost.run(command("status"), exitOK))
			if step.Kind != "advance" {
				t.Fatalf("who works on the round is told: %s", step.Kind)
			}
		}
	}
	must(t, os.MkdirAll(step.ArtifactDir, 0o755))
	must(t, os.WriteFile(filepath.Join(step.ArtifactDir, "final.md"), []byte("fine"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "round.json"), []byte(payload), 0o644))
	read(a.run(command("complete-round"), exitOK))
	read(a.run(command("finish"), exitOK))
	a.run(command("end-instance"), exitOK)
	if step.Kind != "none" || a.calls > 14 {
		t.Errorf("after %d calls the next action is %s", a.calls, step.Kind)
	}
	t.Logf("one round took %d calls", a.calls)

	// The next round is begun by an agent that dies.
	a = fresh()
	read(a.run(command("begin"), exitOK))
	died := exec.Command("sh", "-c", "exec sleep 60")
	must(t, died.Start())
	a.words["$PPID"] = fmt.Sprint(died.Process.Pid)
	a.run(page["start-instance"], exitOK)
	must(t, died.Process.Kill())
	_ = died.Wait()
	another := fresh()
	read(another.run(command("status"), exitOK))
	if step.Kind != "forward_resume" {
		t.Fatalf("of a round whose agent died is said: %s", step.Kind)
	}
	var taken struct {
		Lease struct{ Token string }
	}
	must(t, json.Unmarshal(another.run(command("resume"), exitOK), &taken))
	third := fresh()
	third.words["PHASE"], another.words["PHASE"] = "change-context", "change-context"
	third.run(command("advance"), exitInvariant)
	another.run(command("advance")+" --lease "+taken.Lease.Token, exitOK)

	a.run(command("payload"), exitOK)
	a.run(command("list"), exitOK)
	for line, run := range used {
		if !run {
			t.Errorf("the page says %q, and nothing here runs it", line)
		}
	}
}
