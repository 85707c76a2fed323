package lifecycle_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/project"
)

// The payloads that the tests complete rounds and runs with.
const (
	approve = `{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`
	changes = `{"schema_version":1,"verdict":"REQUEST CHANGES","reviewers":[{"type":"principal","instance":1,"findings":[
		{"title":"Totals are rounded twice","category":"blocker","severity":"high","summary":"s","file_path":"cart.go","line_start":3},
		{"title":"Name the constant","category":"style","severity":"info","summary":"s"}]}]}`
	aMap = `{"schema_version":1,"sections":[{"section_number":1,"title":"Cart","files":[
		{"file_path":"cart.go","role":"core","lines_added":3,"lines_deleted":1}]}]}`
)

var reviewPhases = []string{"context", "change-context", "analysis", "reviews", "aggregation", "discourse", "synthesis", "complete"}
var mapPhases = []string{"map-context", "topology", "flow-analysis", "requirements-mapping", "synthesis", "complete"}

// desk is a project of its own, and somebody who calls verbs on it.
type desk struct {
	t testing.TB
	lifecycle.Caller
	notices []string
}

// newDesk has a database without sessions: a copy of one made once.
func newDesk(t testing.TB) *desk {
	t.Helper()
	d := emptyDesk(t)
	text, err := emptyDatabase()
	must(t, err)
	must(t, os.WriteFile(d.Project.Database(), text, 0o644))
	return d
}

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

// emptyDesk has no database yet.
func emptyDesk(t testing.TB) *desk {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	_, err = project.Init(root)
	must(t, err)
	d := &desk{t: t}
	p := project.Project{Root: root}
	settings, _ := p.Runtime(func(string) string { return "" })
	d.Caller = lifecycle.Caller{
		Project: p, Runtime: settings,
		Notice: func(line string) { d.notices = append(d.notices, line) },
	}
	return d
}

func must(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin starts a session in its first phase.
func (d *desk) begin(id, workflow string) {
	d.t.Helper()
	_, err := lifecycle.Begin(context.Background(), d.Caller, lifecycle.BeginRequest{SessionID: id, Branch: "b", Workflow: workflow})
	must(d.t, err)
}

// walk moves a session phase by phase up to the given one, by the statements
// that advance uses.
func (d *desk) walk(id, to string) {
	d.t.Helper()
	pool := d.open()
	defer pool.Close()
	var workflow, phase string
	var round int64
	must(d.t, pool.QueryRow("SELECT workflow_type, current_phase, current_round FROM sessions WHERE id = ?", id).Scan(&workflow, &phase, &round))
	phases := reviewPhases
	if workflow == "map" {
		phases = mapPhases
	}
	for i := slices.Index(phases, phase) + 1; i <= slices.Index(phases, to); i++ {
		_, err := pool.Exec(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round)
				VALUES (?1, 'phase_transition', ?2, ?3, ?4);
			UPDATE sessions SET current_phase = ?2, phase_number = ?3 WHERE id = ?1`, id, phases[i], i+1, round)
		must(d.t, err)
	}
}

func (d *desk) advance(id, phase string) (lifecycle.AdvanceResult, error) {
	return lifecycle.Advance(context.Background(), d.Caller, lifecycle.AdvanceRequest{SessionID: id, Phase: phase})
}

func (d *desk) completeRound(id, payload string) (lifecycle.CompleteResult, error) {
	return lifecycle.CompleteRound(context.Background(), d.Caller, lifecycle.CompleteRequest{SessionID: id, Payload: []byte(payload)})
}

func (d *desk) completeMap(id, payload string) (lifecycle.CompleteResult, error) {
	return lifecycle.CompleteMap(context.Background(), d.Caller, lifecycle.CompleteRequest{SessionID: id, Payload: []byte(payload)})
}

func (d *desk) finish(id string, abort bool) (lifecycle.FinishResult, error) {
	return lifecycle.Finish(context.Background(), d.Caller, lifecycle.FinishRequest{SessionID: id, Abort: abort})
}

// completed brings a session to the end of its first round or run.
func (d *desk) completed(id, workflow string) {
	d.t.Helper()
	d.begin(id, workflow)
	d.walk(id, "synthesis")
	complete, payload := d.completeRound, changes
	if workflow == "map" {
		complete, payload = d.completeMap, aMap
	}
	_, err := complete(id, payload)
	must(d.t, err)
}

// sql runs statements as another program would, foreign keys off.
func (d *desk) sql(statement string) {
	d.t.Helper()
	pool := d.open()
	defer pool.Close()
	_, err := pool.Exec(statement)
	must(d.t, err)
}

func (d *desk) open() *sql.DB {
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(d.Project.Database()), RawQuery: "_pragma=busy_timeout(5000)"}
	pool, err := sql.Open("sqlite", address.String())
	must(d.t, err)
	return pool
}

// rows is the result of a query, a line a row, columns parted by |.
func (d *desk) rows(query string, args ...any) string {
	d.t.Helper()
	pool := d.open()
	defer pool.Close()
	return rowsOf(d.t, pool, query, args...)
}

// failer is a test, or a step of one.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func rowsOf(t failer, pool *sql.DB, query string, args ...any) string {
	t.Helper()
	found, err := pool.Query(query, args...)
	must(t, err)
	return textOf(t, found)
}

func textOf(t failer, found *sql.Rows) string {
	t.Helper()
	defer found.Close()
	columns, err := found.Columns()
	must(t, err)
	var b strings.Builder
	for found.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		must(t, found.Scan(targets...))
		for i, value := range values {
			if i > 0 {
				b.WriteByte('|')
			}
			fmt.Fprint(&b, value)
		}
		b.WriteByte('\n')
	}
	must(t, found.Err())
	return b.String()
}

// log lists the types of a session's events.
func (d *desk) log(id string) []string {
	return strings.Fields(d.rows("SELECT event_type FROM orchestration_events WHERE session_id = ? ORDER BY id", id))
}

// all is everything that a verb could change: every table, and every file and
// folder of every session.
func (d *desk) all() string {
	d.t.Helper()
	var b strings.Builder
	if _, err := os.Stat(d.Project.Database()); err == nil {
		pool := d.open()
		defer pool.Close()
		tables := strings.Fields(rowsOf(d.t, pool, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"))
		for _, table := range tables {
			fmt.Fprintf(&b, "%s\n%s", table, rowsOf(d.t, pool, "SELECT * FROM "+table))
		}
	}
	must(d.t, filepath.WalkDir(d.Project.Sessions(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path)
		if entry.Type().IsRegular() {
			text, err := os.ReadFile(path)
			must(d.t, err)
			fmt.Fprintf(&b, "%s\n", text)
		}
		return nil
	}))
	return b.String()
}

// unchanged runs a call that must fail, and holds it to having done nothing.
func (d *desk) unchanged(call func() error) error {
	d.t.Helper()
	before := d.all()
	err := call()
	if err == nil {
		d.t.Error("no error")
	}
	if after := d.all(); after != before {
		d.t.Errorf("the failure left something behind:\n--- before\n%s\n--- after\n%s", before, after)
	}
	return err
}

// refused is unchanged where the workflow itself says no.
func (d *desk) refused(class lifecycle.Class, kind string, call func() error) *lifecycle.Error {
	d.t.Helper()
	var no *lifecycle.Error
	if err := d.unchanged(call); !errors.As(err, &no) {
		d.t.Fatalf("the error is %v, not a refusal", err)
	}
	if no.Class != class || no.Kind != kind {
		d.t.Errorf("refused with class %d, kind %s: %v; want class %d, kind %s", no.Class, no.Kind, no, class, kind)
	}
	for _, word := range []string{"force", "delete", "rm ", "init"} {
		if strings.Contains(no.Hint, word) {
			d.t.Errorf("the hint %q says %q", no.Hint, word)
		}
	}
	return no
}

// breakAt makes every statement of one kind fail, such as "INSERT ON
// review_findings".
func (d *desk) breakAt(statement string) {
	d.sql("CREATE TRIGGER test_break BEFORE " + statement + " BEGIN SELECT RAISE(ABORT, 'forced'); END")
}

// breakCommit makes every commit fail that follows an event of one type: it
// leaves a reference to a row that is not there, which is looked at last.
func (d *desk) breakCommit(eventType string) {
	d.sql(`CREATE TABLE test_parent (id INTEGER PRIMARY KEY);
		CREATE TABLE test_child (parent INTEGER REFERENCES test_parent (id) DEFERRABLE INITIALLY DEFERRED);
		CREATE TRIGGER test_break AFTER INSERT ON orchestration_events WHEN NEW.event_type = '` + eventType + `'
		BEGIN INSERT INTO test_child VALUES (99); END`)
}

func (d *desk) noticed(part string) bool {
	return slices.ContainsFunc(d.notices, func(line string) bool { return strings.Contains(line, part) })
}

// detailsOf are the facts of a refusal as a program gets them.
func detailsOf(t failer, no *lifecycle.Error) map[string]any {
	t.Helper()
	text, err := json.Marshal(no.Details)
	must(t, err)
	var details map[string]any
	must(t, json.Unmarshal(text, &details))
	return details
}

func leftUntil(t failer, text string) time.Duration {
	t.Helper()
	until, err := time.Parse(time.RFC3339, text)
	must(t, err)
	return time.Until(until)
}
