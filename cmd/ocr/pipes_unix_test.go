//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// within runs the program as a process that may not take for ever.
func within(t *testing.T, dir string, args ...string) answer {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), asProgram+"=1")
	_ = cmd.Run() // the exit code tells
	if ctx.Err() != nil {
		t.Fatalf("ocr %q does not end", args)
	}
	return answer{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestPipeInPlace puts a pipe, which nobody writes, where a small file belongs.
func TestPipeInPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		args []string
		code int
		says string
	}{
		"Dashboard": {"dashboard.pid", []string{"db", "vacuum"}, exitOK, ""},
		"Log":       {"ocr.db-wal", []string{"state", "status"}, exitEnvironment, "ocr.db-wal is a pipe, not a regular file"},
		"Journal":   {"ocr.db-journal", []string{"state", "sync"}, exitEnvironment, "ocr.db-journal is a pipe, not a regular file"},
		"Lock":      {"ocr.db.lock", []string{"db", "snapshot"}, exitEnvironment, "ocr.db.lock is a pipe, not a regular file"},
		"History":   {".cache/command-history.jsonl", []string{"state", "sync"}, exitOK, "command-history.jsonl is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := aProject(t, t.TempDir())
			path := filepath.Join(dir, ".ocr", "data", filepath.FromSlash(c.path))
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			_ = os.Remove(path)
			must(t, syscall.Mkfifo(path, 0o644))
			got := within(t, dir, c.args...)
			if got.code != c.code || !strings.Contains(got.stderr, c.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestPayloadFile: what is no regular file, nor a link to one, is refused, and
// nobody waits for its other end.
func TestPayloadFile(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	must(t, os.Symlink("pipe", filepath.Join(dir, "link")))
	must(t, os.Symlink(".ocr", filepath.Join(dir, "folder")))
	must(t, os.WriteFile(filepath.Join(dir, "text"), []byte("hm"), 0o644))
	must(t, os.Symlink("text", filepath.Join(dir, "good")))
	for _, verb := range []string{"complete-round", "complete-map"} {
		for file, says := range map[string]string{
			"pipe": "a pipe, not a regular file", "link": "a pipe, not a regular file", "/dev/null": "a device, not a regular file",
			"folder": "a folder, not a regular file", "/dev/stdin": "not a regular file", "good": "is not JSON",
		} {
			want := exitUsage
			if file == "good" {
				want = exitPayload
			}
			got := within(t, dir, "state", verb, "--session-id", "s", "--file", file)
			if got.code != want || got.stdout != "" || !strings.Contains(got.stderr, says) {
				t.Errorf("%s %s: %+v", verb, file, got)
			}
		}
	}
}

// TestSilentStdin: while nobody writes to standard input a line says so, and a
// signal ends the command; after a longer while it ends by itself.
func TestSilentStdin(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	t.Run("Told", func(t *testing.T) {
		cmd := asProcess(dir, "state", "complete-round", "--session-id", "s", "--stdin")
		open, err := cmd.StdinPipe()
		must(t, err)
		defer open.Close()
		stderr, err := cmd.StderrPipe()
		must(t, err)
		must(t, cmd.Start())
		kill := time.AfterFunc(60*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		lines := bufio.NewReader(stderr)
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "waiting for the payload on standard input; nothing came for 5s, and after 5m0s") {
			t.Errorf("%v %q", err, line)
		}
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		rest, err := io.ReadAll(lines)
		must(t, err)
		_ = cmd.Wait() // the exit code tells
		if cmd.ProcessState.ExitCode() != exitEnvironment || !strings.Contains(string(rest), "stopped by a signal") {
			t.Errorf("%v: %s", cmd.ProcessState, rest)
		}
	})
	t.Run("GivenUp", func(t *testing.T) {
		near, far, err := os.Pipe()
		must(t, err)
		defer far.Close()
		var stderr bytes.Buffer
		a := &app{stdin: near, stdout: io.Discard, stderr: &stderr}
		_, err = a.payloadFromStdin(t.Context(), patience{tell: time.Millisecond, give: 300 * time.Millisecond})
		if code := a.fail(err); code != exitPayload || !strings.Contains(stderr.String(), "nothing came for 1ms") || !strings.Contains(stderr.String(), "within 300ms") {
			t.Errorf("exit %d: %s", code, stderr.String())
		}
		must(t, near.Close())
	})
	t.Run("Slow", func(t *testing.T) { // after its first byte a payload has all the time
		near, far, err := os.Pipe()
		must(t, err)
		_, err = far.WriteString("{")
		must(t, err)
		var stderr bytes.Buffer
		a := &app{stdin: near, stdout: io.Discard, stderr: &stderr}
		time.AfterFunc(3*time.Second, func() { _ = far.Close() })
		data, err := a.payloadFromStdin(t.Context(), patience{tell: 2 * time.Second, give: 2 * time.Second})
		if err != nil || string(data) != "{" || stderr.Len() > 0 {
			t.Errorf("%q, %v: %s", data, err, stderr.String())
		}
	})
}
