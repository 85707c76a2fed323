package db

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestMain turns the test binary into another process of the same program
// when the variable is set: VERB, then the path and a number as arguments.
func TestMain(m *testing.M) {
	verb := os.Getenv("DB_TEST_PROCESS")
	if verb == "" {
		os.Exit(m.Run())
	}
	if err := process(verb, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, KindOf(err), err)
		os.Exit(1)
	}
}

func process(verb, path string, args []string) error {
	ctx := context.Background()
	switch verb {
	case "create":
		s, err := Open(ctx, path, Options{Create: true})
		if err != nil {
			return err
		}
		return s.Close()
	case "write": // one store for all writes
		n, _ := strconv.Atoi(args[0])
		s, err := Open(ctx, path, Options{})
		if err != nil {
			return err
		}
		for i := range n {
			if err := s.Write(ctx, addPair(i)); err != nil {
				return err
			}
		}
		return s.Close()
	case "reopen": // open, write, close, for as long as stdin is open
		fmt.Println("started")
		ended := make(chan struct{})
		go func() { _, _ = bufio.NewReader(os.Stdin).ReadByte(); close(ended) }()
		for i := 0; ; i++ {
			select {
			case <-ended:
				return nil
			default:
			}
			s, err := Open(ctx, path, Options{})
			if err != nil {
				return err
			}
			if err := join(s.Write(ctx, addPair(i)), s.Close()); err != nil {
				return err
			}
		}
	case "die": // write, then die with the log in place
		s, err := Open(ctx, path, Options{})
		if err != nil {
			return err
		}
		if err := s.Write(ctx, addPair(1)); err != nil {
			return err
		}
		return kill()
	case "die-raw": // write as another program does, then die
		pool, err := sql.Open("sqlite", mustAddress(path))
		if err != nil {
			return err
		}
		if _, err := pool.Exec("INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', 'die')"); err != nil {
			return err
		}
		return kill()
	case "die-reading": // die with the private copy in place
		return ReadUpgraded(ctx, path, Options{}, func(context.Context, *Reader) error { return kill() })
	case "upgrade-until": // die before the operation of that number
		at, _ := strconv.Atoi(args[0])
		f := &fault{at: int64(at), strike: kill}
		s, err := f.opener(path).open(ctx)
		if err != nil {
			return err
		}
		return s.Close()
	case "restore-until": // the same with a restore of the snapshot named
		at, _ := strconv.Atoi(args[0])
		f := &fault{at: int64(at), strike: kill}
		_, err := f.opener(path).restoreSnapshot(ctx, args[1])
		return err
	case "notes": // open, write a note, close, for as long as stdin is open; print those that were stored
		ended := make(chan struct{})
		go func() { _, _ = bufio.NewReader(os.Stdin).ReadByte(); close(ended) }()
		for i := 0; ; i++ {
			select {
			case <-ended:
				return nil
			default:
			}
			note := fmt.Sprintf("%s-%d", args[0], i)
			start := time.Now()
			stored, err := storeNote(ctx, path, note)
			// Others get their turn, however slow the machine is.
			time.Sleep(4 * time.Since(start))
			switch {
			case stored:
				fmt.Println(note)
			case KindOf(err) != KindBusy:
				return fmt.Errorf("note %s: %w", note, err)
			}
		}
	case "note": // write one note as another program does
		pool, err := sql.Open("sqlite", mustAddress(path)+"&_pragma=journal_mode(WAL)")
		if err != nil {
			return err
		}
		pool.SetMaxOpenConns(1)
		_, err = pool.Exec("INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', ?)", args[0])
		return join(err, pool.Close())
	case "node": // upgrade as the other line of programs does
		return nodeUpgrade(ctx, path)
	case "die-in-journal": // die in the middle of a rollback-journal write
		pool, err := sql.Open("sqlite", mustAddress(path))
		if err != nil {
			return err
		}
		pool.SetMaxOpenConns(1)
		for _, statement := range []string{
			"PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 2", "PRAGMA cache_spill = 1", "BEGIN IMMEDIATE",
			"UPDATE user_notes SET content = 'spoiled'",
		} {
			if _, err := pool.Exec(statement); err != nil {
				return err
			}
		}
		return kill()
	case "count":
		return Read(ctx, path, func(ctx context.Context, r *Reader) error {
			var n int
			if err := r.conn.QueryRowContext(ctx, "SELECT count(*) FROM user_notes").Scan(&n); err != nil {
				return err
			}
			_, err := fmt.Println(n)
			return err
		})
	}
	return fmt.Errorf("unknown verb %q", verb)
}

func kill() error {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return err
	}
	select {}
}

// addPair adds two notes whose numbers cancel each other out: a reader that
// sees half a transaction sees a sum that is not 0.
func addPair(i int) func(ctx context.Context, tx *Tx) error {
	return func(ctx context.Context, tx *Tx) error {
		for _, n := range []int{i + 1, -i - 1} {
			_, err := tx.conn.ExecContext(ctx,
				"INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', ?)", n)
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func command(verb, path string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), "DB_TEST_PROCESS="+verb)
	return cmd
}

func run(t *testing.T, verb, path string, args ...string) string {
	t.Helper()
	out, err := command(verb, path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", verb, path, err, out)
	}
	return string(out)
}

func mustAddress(path string) string {
	dsn, err := address(path, "mode=rwc", settings(defaultWaits))
	if err != nil {
		panic(err)
	}
	return dsn
}

// fresh makes a new database and returns its path.
func fresh(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data", "ocr.db")
	if err := open(t, path, Options{Create: true}).Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string, opt Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// raw runs statements as another program would.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path))
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
}

// number reads one number as another program would.
func number(t testing.TB, path, query string) int {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var n int
	if err := pool.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// state describes every file of a folder, the lock file apart: name, size,
// time and content.
func state(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		// The index of a log is rebuilt in memory by every reader.
		content := []byte("folder or index")
		if info.Mode().IsRegular() && filepath.Ext(entry.Name()) != ".db-shm" {
			content, err = os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text += info.ModTime().String() + " "
		}
		text += fmt.Sprintf("%s %d %x\n", entry.Name(), info.Size(), sha256.Sum256(content))
	}
	return text
}

func wantKind(t *testing.T, err error, kind Kind) {
	t.Helper()
	if KindOf(err) != kind {
		t.Fatalf("kind %q, want %q: %v", KindOf(err), kind, err)
	}
}

func readNothing(path string) error {
	return Read(context.Background(), path, func(context.Context, *Reader) error { return nil })
}
