package doctor

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"ocr/internal/lifecycle"
	"ocr/internal/project"
)

// TestMain turns the test binary into another process of the same program when
// the variable is set.
func TestMain(m *testing.M) {
	if os.Getenv("DOCTOR_TEST_PROCESS") == "" {
		code := m.Run()
		if sound.dir != "" {
			_ = os.RemoveAll(sound.dir)
		}
		os.Exit(code)
	}
	report, err := Run(context.Background(), Request{Start: os.Args[1], Getenv: os.Getenv, Program: thisProgram()})
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(report.Checks)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// thisProgram is a program whose file is there.
func thisProgram() Program {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Program{Version: "v1", Commit: "abc", Path: self}
}

// sound is a project in which every check is OK, made once.
var sound struct {
	once sync.Once
	dir  string
	err  error
}

const (
	roundPayload = `{"schema_version":1,"verdict":"REQUEST CHANGES","reviewers":[{"type":"architect","instance":1,"findings":[
		{"title":"The lock is never released","category":"blocker","severity":"high","summary":"s"}]}]}`
	mapPayload = `{"schema_version":1,"sections":[{"section_number":1,"title":"One","files":[
		{"file_path":"a.go","role":"r","lines_added":1,"lines_deleted":0}]}]}`
)

// soundProject copies it: a closed review with two rounds, a closed map, an
// active review, one finished and one living process, and a good snapshot.
func soundProject(t *testing.T) project.Project {
	t.Helper()
	sound.once.Do(func() { sound.dir, sound.err = makeSound() })
	if sound.err != nil {
		t.Fatal(sound.err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	root = filepath.Join(root, "p")
	must(t, os.CopyFS(root, os.DirFS(sound.dir)))
	p := project.Project{Root: root}
	// The tests of this package may take longer than a heartbeat stays fresh.
	raw(t, p.Database(), "UPDATE command_executions SET last_heartbeat_at = datetime('now') WHERE uid = 'living'")
	return p
}

func makeSound() (string, error) {
	dir, err := os.MkdirTemp("", "doctor-sound-")
	if err != nil {
		return "", err
	}
	if _, err := project.Init(dir); err != nil {
		return "", err
	}
	p := project.Project{Root: dir}
	settings, _ := p.Runtime(func(string) string { return "" })
	c := lifecycle.Caller{Project: p, Runtime: settings, Notice: func(string) {}}
	ctx := context.Background()
	for _, s := range []struct{ id, workflow, payload string }{{"done", "review", roundPayload}, {"chart", "map", mapPayload}} {
		for round := range 2 {
			if _, err := lifecycle.Begin(ctx, c, lifecycle.BeginRequest{SessionID: s.id, Branch: "b", Workflow: s.workflow}); err != nil {
				return "", err
			}
			phases := []string{"change-context", "analysis", "reviews", "aggregation", "discourse", "synthesis"}
			if s.workflow == "map" {
				phases = []string{"topology", "flow-analysis", "requirements-mapping", "synthesis"}
			}
			for _, phase := range phases {
				if _, err := lifecycle.Advance(ctx, c, lifecycle.AdvanceRequest{SessionID: s.id, Phase: phase}); err != nil {
					return "", err
				}
			}
			complete := lifecycle.CompleteRound
			if s.workflow == "map" {
				complete = lifecycle.CompleteMap
			}
			if _, err := complete(ctx, c, lifecycle.CompleteRequest{SessionID: s.id, Payload: []byte(s.payload)}); err != nil {
				return "", err
			}
			if _, err := lifecycle.Finish(ctx, c, lifecycle.FinishRequest{SessionID: s.id}); err != nil {
				return "", err
			}
			_ = round
		}
	}
	if _, err := lifecycle.Begin(ctx, c, lifecycle.BeginRequest{SessionID: "going", Branch: "b", Workflow: "review"}); err != nil {
		return "", err
	}
	pool, err := openRaw(p.Database())
	if err != nil {
		return "", err
	}
	defer pool.Close()
	for _, statement := range []string{
		"UPDATE sessions SET session_dir = '.ocr/sessions/' || id", // the copies are projects of their own
		`INSERT INTO command_executions (uid, command, workflow_id, pid, last_heartbeat_at)
			VALUES ('living', 'session-instance:a-1', 'going', 1, datetime('now'))`,
		`INSERT INTO command_executions (uid, command, workflow_id, exit_code, finished_at) VALUES ('over', 'x', 'done', 0, datetime('now'))`,
		`VACUUM INTO '` + strings.ReplaceAll(p.Database(), "'", "''") + `.bak.v14'`,
	} {
		if _, err := pool.Exec(statement); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// openRaw opens a database as another program would: foreign keys are off.
func openRaw(path string) (*sql.DB, error) {
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	pool, err := sql.Open("sqlite", address.String())
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return pool, err
}

func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	pool, err := openRaw(path)
	must(t, err)
	for _, statement := range statements {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	must(t, pool.Close())
}

// value reads one text as another program would.
func value(t *testing.T, path, query string) string {
	t.Helper()
	pool, err := openRaw(path)
	must(t, err)
	defer pool.Close()
	var text string
	if err := pool.QueryRow(query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

// around runs statements while the trigger is away.
func around(t *testing.T, path, trigger string, statements ...string) {
	t.Helper()
	body := value(t, path, "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = '"+trigger+"'")
	raw(t, path, append(append([]string{"DROP TRIGGER " + trigger}, statements...), body)...)
}

// snapshotOf describes every file below dir: name, mode, size, time, content.
func snapshotOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s %d %s", path, info.Mode(), info.Size(), info.ModTime().Format(time.RFC3339Nano))
		// The index of a log lives in memory that every reader shares.
		if info.Mode().IsRegular() && filepath.Ext(path) != ".db-shm" {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", content)
		}
		b.WriteByte('\n')
		return nil
	})
	must(t, err)
	return b.String()
}

// examine runs every check as this user.
func examine(t *testing.T, in Request) []Check {
	t.Helper()
	report, err := Run(t.Context(), in)
	must(t, err)
	return report.Checks
}

// examineAsNobody runs every check as a user without rights; as an ordinary
// user that is what this one is.
func examineAsNobody(t *testing.T, root string) []Check {
	t.Helper()
	cmd := exec.Command(os.Args[0], root)
	cmd.Env = append(os.Environ(), "DOCTOR_TEST_PROCESS=1", heartbeatSetting+"="+longHeartbeat)
	becomeNobody(t, cmd)
	// The binary itself lies in a folder that only its owner may enter.
	if os.Getuid() == 0 {
		program := filepath.Join(filepath.Dir(root), "program")
		text, err := os.ReadFile(os.Args[0])
		must(t, err)
		must(t, os.WriteFile(program, text, 0o755))
		cmd.Path = program
		for dir := filepath.Dir(root); dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
			if strings.HasPrefix(dir, os.TempDir()+"/") {
				must(t, os.Chmod(dir, 0o755))
			}
		}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var checks []Check
	must(t, json.Unmarshal(out, &checks))
	return checks
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
