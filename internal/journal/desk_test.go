package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/process"
	"ocr/internal/project"
)

// TestMain turns the test binary into another process when the variable is
// set: a sleeper, an agent that works, or the first process of a container.
func TestMain(m *testing.M) {
	verb := os.Getenv("JOURNAL_TEST_PROCESS")
	if verb == "" {
		os.Exit(m.Run())
	}
	if err := other(verb, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func other(verb string, args []string) error {
	switch verb {
	case "sleep":
		time.Sleep(time.Minute)
		return nil
	case "work":
		return work(args[0], args[1])
	case "container":
		return insideContainer(args[0])
	}
	return fmt.Errorf("unknown verb %q", verb)
}

// command is another process of this test binary.
func command(verb string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "JOURNAL_TEST_PROCESS="+verb)
	c.Stderr = os.Stderr
	return c
}

// sleeper starts a process that does nothing, and returns what kills it.
func sleeper(t *testing.T) (pid int64, kill func()) {
	t.Helper()
	c := command("sleep")
	must(t, c.Start())
	kill = func() { _ = c.Process.Kill(); _ = c.Wait() }
	t.Cleanup(kill)
	return int64(c.Process.Pid), kill
}

// desk is a project of its own, and somebody who calls verbs on it.
type desk struct {
	t *testing.T
	lifecycle.Caller
	notices []string
}

// newDesk has a database with the session s.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := emptyDesk(t)
	text, err := emptyDatabase()
	must(t, err)
	must(t, os.WriteFile(d.Project.Database(), text, 0o644))
	d.begin("s")
	return d
}

// emptyDatabase is made once: that takes longer than most tests.
var emptyDatabase = sync.OnceValues(func() (text []byte, err error) {
	dir, err := os.MkdirTemp("", "ocr-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "ocr.db")
	store, err := db.Open(context.Background(), path, db.Options{Create: true})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func emptyDesk(t *testing.T) *desk {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	_, err = project.Init(root)
	must(t, err)
	d := &desk{t: t, Caller: caller(root)}
	d.Notice = func(line string) { d.notices = append(d.notices, line) }
	return d
}

func caller(root string) lifecycle.Caller {
	p := project.Project{Root: root}
	settings, _ := p.Runtime(func(string) string { return "" })
	return lifecycle.Caller{Project: p, Runtime: settings, Notice: func(string) {}}
}

func (d *desk) begin(id string) {
	d.t.Helper()
	_, err := lifecycle.Begin(context.Background(), d.Caller, lifecycle.BeginRequest{SessionID: id, Branch: "b", Workflow: "review"})
	must(d.t, err)
}

// start records a process of session s.
func (d *desk) start(in StartRequest) string {
	d.t.Helper()
	if in.Vendor == "" {
		in.Vendor = "v"
	}
	if in.Workflow == "" {
		in.Workflow = "s"
	}
	started, err := Start(context.Background(), d.Caller, in)
	must(d.t, err)
	return started.ID
}

// row is the process as the journal holds it.
func (d *desk) row(id string) Listed {
	d.t.Helper()
	listed, err := List(context.Background(), d.Caller, ListRequest{All: true})
	must(d.t, err)
	for _, row := range listed {
		if row.ID == id {
			return row
		}
	}
	d.t.Fatalf("process %s is not in the journal", id)
	return Listed{}
}

// age makes the last heartbeat of a process old.
func (d *desk) age(id string) {
	d.t.Helper()
	d.exec("UPDATE command_executions SET last_heartbeat_at = datetime('now', '-10 minutes') WHERE uid = '" + id + "'")
}

func (d *desk) sweep(in SweepRequest) SweepResult {
	d.t.Helper()
	result, err := Sweep(context.Background(), d.Caller, in)
	must(d.t, err)
	return result
}

// wantStatus holds the recorded status and exit code of a process; the code
// is -99 for none.
func (d *desk) wantStatus(id, status string, code int64) {
	d.t.Helper()
	row := d.row(id)
	got := int64(-99)
	if row.ExitCode != nil {
		got = *row.ExitCode
	}
	if row.Status != status || got != code {
		d.t.Errorf("process %s is %s (%d), want %s (%d)", id, row.Status, got, status, code)
	}
}

// open connects as another program does.
func (d *desk) open() *sql.DB {
	d.t.Helper()
	pool, err := openDatabase(d.Project)
	must(d.t, err)
	d.t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func openDatabase(p project.Project) (*sql.DB, error) {
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(p.Database()), RawQuery: "_pragma=busy_timeout(5000)"}
	pool, err := sql.Open("sqlite", address.String())
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return pool, err
}

func (d *desk) exec(statements ...string) {
	d.t.Helper()
	pool := d.open()
	for _, statement := range statements {
		if _, err := pool.Exec(statement); err != nil {
			d.t.Fatalf("%s: %v", statement, err)
		}
	}
	must(d.t, pool.Close())
}

// text reads one value; NULL is "NULL".
func (d *desk) text(query string) string {
	d.t.Helper()
	pool := d.open()
	defer pool.Close()
	var value sql.NullString
	must(d.t, pool.QueryRow(query).Scan(&value))
	if !value.Valid {
		return "NULL"
	}
	return value.String
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantRefusal holds the class and the kind of a refusal.
func wantRefusal(t *testing.T, err error, class lifecycle.Class, kind string) {
	t.Helper()
	var no *lifecycle.Error
	if !errors.As(err, &no) || no.Class != class || no.Kind != kind {
		t.Fatalf("got %v, want the refusal %s", err, kind)
	}
}

// fake is a machine whose processes the test decides on.
type fake struct {
	place process.Place
	seen  map[int64]process.Sighting // all others are gone
}

func (f *fake) Here() process.Place { return f.place }

func (f *fake) Look(pid int64) process.Sighting {
	if seen, ok := f.seen[pid]; ok {
		return seen
	}
	return process.Sighting{Gone: true}
}
