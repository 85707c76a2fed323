package db

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// prompt is a database as somebody at a plain sqlite3 prompt meets it: one
// connection, foreign keys off, nothing between the text and the engine.
type prompt struct {
	path string
	conn *sql.Conn
}

// newPrompt opens a fresh file of the latest schema.
func newPrompt(t *testing.T) prompt {
	t.Helper()
	return promptAt(t, Latest())
}

// promptAt opens a fresh file that has the steps up to a version.
func promptAt(t *testing.T, version int) prompt {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ocr.db")
	must(t, os.WriteFile(path, fileAt(t, version), 0o600))
	p, _ := promptOn(t, path)
	return p
}

func promptOn(t *testing.T, path string) (prompt, *sql.DB) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(OFF)&_pragma=journal_mode(MEMORY)")
	must(t, err)
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(context.Background())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(); _ = pool.Close() })
	return prompt{path: path, conn: conn}, pool
}

var filesAt = struct {
	sync.Mutex
	bytes map[int][]byte
}{bytes: map[int][]byte{}}

// fileAt returns the bytes of a database that has the steps up to a version.
func fileAt(t *testing.T, version int) []byte {
	t.Helper()
	filesAt.Lock()
	defer filesAt.Unlock()
	if filesAt.bytes[version] == nil {
		path := filepath.Join(t.TempDir(), "ocr.db")
		p, pool := promptOn(t, path)
		for _, name := range stepNames(t)[:version] {
			p.do(t, stepBody(t, name))
		}
		must(t, p.conn.Close())
		must(t, pool.Close())
		body, err := os.ReadFile(path)
		must(t, err)
		filesAt.bytes[version] = body
	}
	return filesAt.bytes[version]
}

func stepBody(t *testing.T, name string) string {
	t.Helper()
	body, err := embedded.ReadFile("schema/" + name)
	must(t, err)
	return string(body)
}

func (p prompt) try(statement string) error {
	_, err := p.conn.ExecContext(context.Background(), statement)
	return err
}

// do runs statements that must be accepted.
func (p prompt) do(t rapid.TB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := p.try(statement); err != nil {
			t.Fatalf("%s\n%v", statement, err)
		}
	}
}

// refused runs a statement that must fail with the message.
func (p prompt) refused(t rapid.TB, message, statement string) {
	t.Helper()
	before := p.everything(t)
	err := p.try(statement)
	switch {
	case err == nil:
		t.Errorf("accepted: %s", statement)
	case !strings.Contains(err.Error(), message):
		t.Errorf("%s\n%v\nwant: %s", statement, err, message)
	case !slices.Equal(before, p.everything(t)):
		t.Errorf("refused, yet something changed: %s", statement)
	}
}

// ignored runs a statement that must succeed and change nothing.
func (p prompt) ignored(t rapid.TB, statement string) {
	t.Helper()
	before := p.everything(t)
	p.do(t, statement)
	if after := p.everything(t); !slices.Equal(before, after) {
		t.Errorf("%s\nchanged %v\ninto %v", statement, before, after)
	}
}

// everything is the state that the rules protect.
func (p prompt) everything(t rapid.TB) []string {
	t.Helper()
	return slices.Concat(
		p.rows(t, "SELECT rowid, * FROM sessions ORDER BY rowid"),
		p.rows(t, "SELECT * FROM orchestration_events ORDER BY id"),
	)
}

// rows returns the rows of a query, their values separated by bars.
func (p prompt) rows(t rapid.TB, query string, bound ...any) (lines []string) {
	t.Helper()
	rows, err := p.conn.QueryContext(context.Background(), query, bound...)
	if err != nil {
		t.Fatalf("%s\n%v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatalf("%s\n%v", query, err)
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("%s\n%v", query, err)
		}
		var cells []string
		for _, value := range values {
			cell := fmt.Sprint(value)
			if value == nil {
				cell = "NULL"
			} else if bytes, ok := value.([]byte); ok {
				cell = fmt.Sprintf("x'%x'", bytes)
			}
			cells = append(cells, cell)
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s\n%v", query, err)
	}
	return lines
}

// want compares the rows of a query.
func (p prompt) want(t rapid.TB, query string, lines ...string) {
	t.Helper()
	if got := p.rows(t, query); !slices.Equal(got, lines) {
		t.Errorf("%s\ngot:\n  %s\nwant:\n  %s", query, strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

// session adds a session's row and its first event.
func (p prompt) session(t rapid.TB, id, workflow string) {
	t.Helper()
	p.do(t, fmt.Sprintf(`INSERT INTO sessions (id, branch, workflow_type, current_phase, session_dir)
		VALUES ('%s', 'b', '%s', '%s', 'd')`, id, workflow, firstPhase(workflow)))
	p.event(t, id, "session_created", firstPhase(workflow), 1, 1, "NULL")
}

func firstPhase(workflow string) string {
	if workflow == "map" {
		return "map-context"
	}
	return "context"
}

// event appends an event; metadata is SQL text.
func (p prompt) event(t rapid.TB, id, kind, phase string, number, round int, metadata string) {
	t.Helper()
	p.do(t, eventSQL(id, kind, phase, number, round, metadata))
}

func eventSQL(id, kind, phase string, number, round int, metadata string) string {
	return fmt.Sprintf(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata)
		VALUES ('%s', '%s', '%s', %d, %d, %s)`, id, kind, phase, number, round, metadata)
}

// move sets the phase of a row and appends the transition.
func (p prompt) move(t rapid.TB, id, phase string, number, round int) {
	t.Helper()
	p.do(t, fmt.Sprintf("UPDATE sessions SET current_phase = '%s', phase_number = %d WHERE id = '%s'", phase, number, id))
	p.event(t, id, "phase_transition", phase, number, round, "NULL")
}

// completeReview brings an active review to the end of a round.
func (p prompt) completeReview(t rapid.TB, id string, round int) {
	t.Helper()
	p.move(t, id, "synthesis", 7, round)
	p.event(t, id, "round_completed", "synthesis", 7, round, "NULL")
	p.move(t, id, "complete", 8, round)
}

// completeMap brings an active map to the end of a run.
func (p prompt) completeMap(t rapid.TB, id string, run int) {
	t.Helper()
	p.move(t, id, "synthesis", 5, 1)
	p.event(t, id, "map_completed", "synthesis", 5, run, "NULL")
	p.move(t, id, "complete", 6, 1)
}

func (p prompt) close(t rapid.TB, id string) {
	t.Helper()
	p.do(t, fmt.Sprintf("UPDATE sessions SET status = 'closed', current_phase = 'complete' WHERE id = '%s'", id))
	p.event(t, id, "session_closed", "complete", 8, 1, "NULL")
}

func (p prompt) completeness(t rapid.TB, id string) string {
	t.Helper()
	return strings.Join(p.rows(t, fmt.Sprintf("SELECT completeness_state FROM session_completeness WHERE session_id = '%s'", id)), "\n")
}
