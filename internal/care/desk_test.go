package care_test

import (
	"bufio"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/project"
)

// TestMain turns the test binary into another user of a database when the
// variable is set: what to do, then the path.
func TestMain(m *testing.M) {
	verb := os.Getenv("CARE_TEST_PROCESS")
	if verb == "" {
		os.Exit(m.Run())
	}
	if err := process(verb, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process opens the database, says so, and goes on until stdin is closed.
func process(verb, path string) error {
	pool, err := sql.Open("sqlite", address(path))
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec("SELECT count(*) FROM sessions"); err != nil {
		return err
	}
	if verb == "read" {
		if _, err := pool.Exec("BEGIN; SELECT count(*) FROM sessions"); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	ended := make(chan struct{})
	go func() { _, _ = bufio.NewReader(os.Stdin).ReadByte(); close(ended) }()
	for i := 1; ; i++ {
		select {
		case <-ended:
			if verb == "write" {
				fmt.Println(i - 1)
			}
			return pool.Close()
		default:
		}
		if verb != "write" {
			<-ended
			continue
		}
		_, err := pool.Exec("INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'writer', ?)", i)
		if err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// other is another process that uses the database.
type other struct {
	cmd *exec.Cmd
	out *bufio.Reader
	end func() error
}

func start(t *testing.T, verb, path string) other {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), "CARE_TEST_PROCESS="+verb)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	o := other{cmd, bufio.NewReader(out), in.Close}
	if line, err := o.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	return o
}

func address(path string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String() + "?_pragma=busy_timeout(10000)"
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// desk is a project with a database.
type desk struct {
	*testing.T
	lifecycle.Caller
	notices []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	root := t.TempDir()
	_, err := project.Init(root)
	must(t, err)
	p, err := project.Find(root)
	must(t, err)
	d := &desk{T: t}
	d.Caller = lifecycle.Caller{Project: p, Notice: func(line string) { d.notices = append(d.notices, line) }}
	store, err := db.Open(t.Context(), p.Database(), db.Options{Create: true})
	must(t, err)
	must(t, store.Close())
	return d
}

// run runs statements as another program would.
func (d *desk) run(statements ...string) {
	d.Helper()
	pool, err := sql.Open("sqlite", address(d.Project.Database()))
	must(d.T, err)
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := pool.Exec(statement); err != nil {
			d.Fatalf("%s: %v", statement, err)
		}
	}
}

// text is the first column of a query, a line for each row.
func (d *desk) text(query string) string {
	d.Helper()
	pool, err := sql.Open("sqlite", address(d.Project.Database()))
	must(d.T, err)
	defer pool.Close()
	rows, err := pool.Query(query)
	must(d.T, err)
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		must(d.T, rows.Scan(&line))
		lines = append(lines, line)
	}
	must(d.T, rows.Err())
	return strings.Join(lines, "\n")
}

// counts is the number of rows of every table.
func (d *desk) counts() map[string]string {
	d.Helper()
	all := map[string]string{}
	for table := range strings.SplitSeq(d.text("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"), "\n") {
		all[table] = d.text("SELECT count(*) FROM " + table)
	}
	return all
}

// files describes every file of the data folder.
func (d *desk) files() string {
	d.Helper()
	entries, err := os.ReadDir(d.Project.Data())
	must(d.T, err)
	text := ""
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(d.Project.Data(), entry.Name()))
		must(d.T, err)
		info, err := entry.Info()
		must(d.T, err)
		text += fmt.Sprintf("%s %d %s %x\n", entry.Name(), len(content), info.ModTime(), sha256.Sum256(content))
	}
	return text
}

func (d *desk) wantKind(err error, kind string) {
	d.Helper()
	var no *lifecycle.Error
	if !errors.As(err, &no) || no.Kind != kind {
		d.Fatalf("want %s: %v", kind, err)
	}
}

func ptr[T any](value T) *T { return &value }
