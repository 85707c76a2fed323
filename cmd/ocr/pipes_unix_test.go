//go:build unix

package main

import (
	"bytes"
	"context"
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

// TestPipedPayload reads a payload from a named pipe, as a shell hands it over
// for <(...), and ends by a signal while nobody writes to it.
func TestPipedPayload(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o644))
	t.Run("Read", func(t *testing.T) {
		go func() { _ = os.WriteFile(pipe, []byte("hm"), 0o644) }()
		got := within(t, dir, "state", "complete-round", "--session-id", "s", "--file", "pipe")
		if got.code != exitPayload || !strings.Contains(got.stderr, "is not JSON") {
			t.Errorf("%+v", got)
		}
	})
	for name, source := range map[string][]string{"File": {"--file", "pipe"}, "Stdin": {"--stdin"}} {
		t.Run("Stopped"+name, func(t *testing.T) {
			cmd := asProcess(dir, append([]string{"state", "complete-round", "--session-id", "s"}, source...)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			open, err := cmd.StdinPipe()
			must(t, err)
			defer open.Close()
			must(t, cmd.Start())
			kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer kill.Stop()
			// A signal before the program listens ends it as well, but silently.
			time.Sleep(500 * time.Millisecond)
			must(t, cmd.Process.Signal(syscall.SIGTERM))
			_ = cmd.Wait() // the exit code tells
			if cmd.ProcessState.ExitCode() != exitEnvironment || !strings.Contains(stderr.String(), "stopped by a signal") {
				t.Errorf("%v: %s", cmd.ProcessState, stderr.String())
			}
		})
	}
}
