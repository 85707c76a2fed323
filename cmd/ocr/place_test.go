package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// openRaw is a connection of another program to a project's database.
func openRaw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(dir, ".ocr", "data", "ocr.db"))}
	pool, err := sql.Open("sqlite", address.String())
	must(t, err)
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// TestBusy: reading does not wait for a writer; a write waits until the other
// one is done. For how long, and what comes then, is tested in package db.
func TestBusy(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	pool := openRaw(t, dir)
	_, err := pool.Exec("BEGIN IMMEDIATE")
	must(t, err)
	mustCall(t, dir, "state", "status", "--session-id", "s") // the lock is held until it is back
	var released atomic.Bool
	time.AfterFunc(300*time.Millisecond, func() {
		released.Store(true)
		_, _ = pool.Exec("ROLLBACK")
	})
	mustCall(t, dir, "state", "advance", "--session-id", "s", "--phase", "change-context")
	if !released.Load() {
		t.Error("it wrote while another process held the lock")
	}
}

// TestFolderNames: each project has its own database inside it, whatever the
// folder is called, and nothing is made beside it.
func TestFolderNames(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	names := []string{"sp ace", "ha#sh", "pc%20t", "pc%", "a&b", "qu'ote", "semi;colon", "ünï-数据", " lead", "file:x", "-dash", "a+b"}
	if filepath.Separator == '/' {
		names = append(names, "q?mark", "q?mode=ro", "new\nline", `dou"ble`, `back\slash`)
	}
	for i, name := range names {
		dir := aProject(t, filepath.Join(base, name))
		mustCall(t, dir, "state", "begin", "--session-id", fmt.Sprint("own", i), "--branch", "b", "--workflow-type", "map")
	}
	for i, name := range names {
		dir := filepath.Join(base, name)
		got := mustCall(t, base, "db", "query", "SELECT id FROM sessions ORDER BY 1", "--json", "--db="+filepath.Join(name, ".ocr", "data", "ocr.db"))
		if want := fmt.Sprintf(`[{"id":"own%d"},{"id":"s"}]`+"\n", i); got.stdout != want {
			t.Errorf("%q: sessions %s, want %s", name, got.stdout, want)
		}
		if info, err := os.Stat(filepath.Join(dir, ".ocr", "data", "ocr.db")); err != nil || info.Size() == 0 {
			t.Errorf("%q: %v", name, err)
		}
	}
	if found, err := os.ReadDir(base); err != nil || len(found) != len(names) {
		t.Errorf("%d entries beside the projects, want %d: %v %v", len(found), len(names), found, err)
	}
}

// TestWorktree: the nearest .ocr decides, and reading makes no store.
func TestWorktree(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git on this machine")
	}
	base := t.TempDir()
	in := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	main := filepath.Join(base, "main")
	must(t, os.Mkdir(main, 0o755))
	in(main, "init", "-q")
	aProject(t, main)
	in(main, "add", ".ocr/.gitignore")
	in(main, "commit", "-qm", "c")
	outer := filepath.Join(base, "outer")
	in(main, "worktree", "add", "-q", outer, "-b", "o")
	inner := filepath.Join(main, ".worktrees", "n")
	in(main, "worktree", "add", "-q", inner, "-b", "n")

	for _, dir := range []string{outer, inner} {
		// The commit brought .ocr along: a project, with a store of its own.
		got := call(dir, "state", "status", "--session-id", "s", "--json")
		if got.code != exitNotFound || !strings.Contains(got.stdout, `"no_database"`) {
			t.Errorf("%s: %+v", dir, got)
		}
		if _, err := os.Stat(filepath.Join(dir, ".ocr", "data")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: reading made a store: %v", dir, err)
		}
	}
	must(t, os.RemoveAll(filepath.Join(inner, ".ocr")))
	for _, dir := range []string{inner, filepath.Join(main, ".git"), filepath.Join(main, ".ocr", "sessions")} {
		mustCall(t, dir, "state", "status", "--session-id", "s")
	}
	aProject(t, outer)
	mustCall(t, outer, "state", "finish", "--session-id", "s", "--abort")
	if got := mustCall(t, main, "state", "status", "--session-id", "s", "--json"); !strings.Contains(got.stdout, `"status":"active"`) {
		t.Errorf("the store of the worktree is the one of the main tree: %s", got.stdout)
	}
}

// TestBeginNamesProject: as a process of its own, begin names the project only
// where that is further up.
func TestBeginNamesProject(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	below := filepath.Join(dir, "below")
	must(t, os.Mkdir(below, 0o755))
	for start, named := range map[string]bool{dir: false, below: true} {
		cmd := asProcess(start, "state", "begin", "--session-id", "new-"+filepath.Base(start), "--branch", "b", "--workflow-type", "map")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		must(t, cmd.Run())
		if got := strings.Contains(stderr.String(), "note: using the project"); got != named || named && !strings.Contains(stderr.String(), "above "+below) {
			t.Errorf("from %s: %s", start, stderr.String())
		}
	}
}

// TestReadOnlyPlace runs the program as a user who may write nothing there.
func TestReadOnlyPlace(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "ocr-test-")
	must(t, err)
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(base, "p", ".ocr", "data"), 0o755)
		_ = os.RemoveAll(base)
	})
	text, err := os.ReadFile(os.Args[0])
	must(t, err)
	program := filepath.Join(base, "program")
	must(t, os.WriteFile(program, text, 0o755))
	must(t, os.Chmod(base, 0o755))
	dir := aProject(t, filepath.Join(base, "p"))
	data := filepath.Join(dir, ".ocr", "data")
	must(t, os.Chmod(filepath.Join(data, "ocr.db"), 0o444))
	must(t, os.Chmod(data, 0o555))
	before := stamps(t, dir)

	as := func(args ...string) answer {
		cmd := asProcess(dir, args...)
		cmd.Path = program
		becomeNobody(t, cmd)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return answer{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}
	for _, line := range []string{"state status --session-id s", "state show", "state list", "state events", "db query PRAGMA(user_version)", "doctor --engine-only", "db status", "db snapshots", "db verify", "db migrate --dry-run"} {
		args := strings.Fields(strings.ReplaceAll(line, "PRAGMA(user_version)", "VALUES(1)"))
		got := as(append(args, "--json")...)
		oneValue(t, line, got)
		if got.code != exitOK {
			t.Errorf("%s: %+v", line, got)
		}
	}
	got := as("state", "advance", "--session-id", "s", "--phase", "change-context", "--json")
	oneValue(t, "advance", got)
	if got.code != exitEnvironment || !strings.Contains(got.stdout, `"read_only"`) || !strings.Contains(got.stderr, "ocr.db") {
		t.Errorf("advance: %+v", got)
	}
	if after := stamps(t, dir); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
}

// stamps is every file and folder below dir with its size and times.
func stamps(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		size := int64(0)
		if info.Mode().IsRegular() {
			size = info.Size()
		}
		fmt.Fprintln(&b, path, size, info.ModTime().UnixNano(), info.Mode())
		return nil
	}))
	return b.String()
}

// TestProcessesAtOnce: four processes, one moment, one result.
func TestProcessesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustCall(t, dir, "init")
	must(t, os.WriteFile(filepath.Join(dir, "round.json"), []byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`), 0o644))
	atOnce := func(args ...string) (codes [9]int) {
		var running []*exec.Cmd
		for range 4 {
			cmd := asProcess(dir, args...)
			must(t, cmd.Start())
			running = append(running, cmd)
		}
		for _, cmd := range running {
			_ = cmd.Wait() // the exit code says it
			codes[cmd.ProcessState.ExitCode()]++
		}
		return codes
	}
	begin := []string{"state", "begin", "--session-id", "s", "--branch", "b", "--workflow-type", "review"}
	if codes := atOnce(begin...); codes != [9]int{0: 1, 6: 3} {
		t.Errorf("begin: exit codes %v", codes)
	}
	for range 3 {
		for _, phase := range []string{"change-context", "analysis", "reviews", "aggregation", "discourse", "synthesis"} {
			mustCall(t, dir, "state", "advance", "--session-id", "s", "--phase", phase)
		}
		if codes := atOnce("state", "complete-round", "--session-id", "s", "--file", "round.json"); codes != [9]int{0: 4} {
			t.Errorf("complete-round: exit codes %v", codes)
		}
		mustCall(t, dir, begin...)
	}
	if codes := atOnce("state", "finish", "--session-id", "s", "--abort"); codes != [9]int{0: 4} {
		t.Errorf("finish: exit codes %v", codes)
	}
	got := mustCall(t, dir, "db", "query", "--csv", "SELECT event_type, count(*) FROM orchestration_events WHERE event_type IN ('session_created', 'round_completed', 'session_aborted') GROUP BY 1 ORDER BY 1")
	if want := "event_type,count(*)\nround_completed,3\nsession_aborted,1\nsession_created,1\n"; got.stdout != want {
		t.Errorf("log %q, want %q", got.stdout, want)
	}
}

// TestLinkedLock: a link in the place of the lock stops what doctor says that it
// stops, and no other command that writes.
func TestLinkedLock(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	lock := filepath.Join(dir, ".ocr", "data", "ocr.db.lock")
	must(t, os.RemoveAll(lock))
	must(t, os.Symlink("elsewhere", lock))
	mustCall(t, dir, "state", "advance", "--phase", "change-context", "--session-id", "s")
	mustCall(t, dir, "db", "checkpoint")
	for _, verb := range []string{"snapshot", "vacuum"} {
		if got := call(dir, "db", verb); got.code != 1 || !strings.Contains(got.stderr, "ocr.db.lock is a symbolic link") {
			t.Errorf("db %s: %+v", verb, got)
		}
	}
	said := call(dir, "doctor", "--check", "place.beside").stdout
	if !strings.Contains(said, "stops restore, snapshot, upgrades and vacuum") {
		t.Errorf("doctor says %s", said)
	}
}
