package history

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestMain turns the test binary into one of many writers when the variable is
// set: PATH NAME COUNT.
func TestMain(m *testing.M) {
	if os.Getenv("HISTORY_TEST_WRITER") == "" {
		os.Exit(m.Run())
	}
	count, err := strconv.Atoi(os.Args[3])
	for i := 0; i < count && err == nil; i++ {
		err = Append(context.Background(), os.Args[1], []Entry{ended(fmt.Sprintf("%s-%d", os.Args[2], i))})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func p[T any](value T) *T { return &value }

func started(uid string) Entry {
	return Entry{V: 1, UID: uid, DBID: 1, Command: "session-instance", StartedAt: "2026-03-02 08:00:00", Event: Start, Writer: "cli"}
}

func ended(uid string) Entry {
	e := started(uid)
	e.Event, e.ExitCode, e.FinishedAt = Finish, p(int64(0)), p("2026-03-02 09:00:00")
	return e
}

func log(t *testing.T) string { return Path(t.TempDir()) }

func add(t *testing.T, path string, entries ...Entry) {
	t.Helper()
	if err := Append(context.Background(), path, entries); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func replay(t *testing.T, path string) Replayed {
	t.Helper()
	result, err := Replay(path)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func lines(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Fatal("the last line has no end")
	}
	return bytes.Count(text, []byte{'\n'})
}

func TestAppend(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		path := log(t)
		first := ended("u1")
		first.WorkflowID, first.Notes = p("s"), p("<a>\nb")
		add(t, path, started("u1"), started("u2"))
		add(t, path, first)
		if n := lines(t, path); n != 3 {
			t.Fatalf("%d lines, want 3", n)
		}
		got := replay(t, path)
		if len(got.Entries) != 1 || got.Started != 1 || got.Bad != 0 {
			t.Fatalf("got %+v", got)
		}
		if e := got.Entries[0]; e.UID != "u1" || *e.Notes != "<a>\nb" || *e.WorkflowID != "s" || *e.ExitCode != 0 {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("NothingToSay", func(t *testing.T) {
		path := log(t)
		add(t, path)
		if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
			t.Error("an empty append made something")
		}
	})
	t.Run("AfterUnfinishedLine", func(t *testing.T) {
		path := log(t)
		write(t, path, `{"v":1,"uid":"bro`)
		add(t, path, ended("u1"))
		if got := replay(t, path); len(got.Entries) != 1 || got.Bad != 1 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("InTheWay", func(t *testing.T) {
		path := log(t)
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := Append(context.Background(), path, []Entry{ended("u1")}); err == nil {
			t.Error("a folder in the place of the log is no error")
		}
	})
}

func TestCutBack(t *testing.T) {
	t.Run("AtTheLimit", func(t *testing.T) {
		path := log(t)
		write(t, path, strings.Repeat("x\n", maxLines-1))
		add(t, path, ended("u1"))
		if n := lines(t, path); n != maxLines {
			t.Errorf("%d lines, want %d", n, maxLines)
		}
	})
	t.Run("OneMore", func(t *testing.T) {
		path := log(t)
		write(t, path, strings.Repeat("old\n", maxLines-keepLines+1)+strings.Repeat("x\n", keepLines-1))
		add(t, path, ended("u1"))
		if n := lines(t, path); n != keepLines {
			t.Errorf("%d lines, want %d", n, keepLines)
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte("old")) {
			t.Errorf("an old line is still there (%v)", err)
		}
		if got := replay(t, path); len(got.Entries) != 1 {
			t.Error("the newest line is gone")
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) != 2 {
			t.Errorf("files are left over: %v %v", entries, err)
		}
	})
}

// TestManyWriters: none of the lines of 24 processes is lost, though the log
// is cut back meanwhile.
func TestManyWriters(t *testing.T) {
	const processes, each = 24, 10
	path := log(t)
	write(t, path, strings.Repeat("x\n", maxLines-processes*each/2))
	var writers []*exec.Cmd
	for i := range processes {
		writer := exec.Command(os.Args[0], path, fmt.Sprint("w", i), strconv.Itoa(each))
		writer.Env = append(os.Environ(), "HISTORY_TEST_WRITER=1")
		writer.Stderr = os.Stderr
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, writer)
	}
	for _, writer := range writers {
		if err := writer.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := replay(t, path); len(got.Entries) != processes*each {
		t.Errorf("%d entries, want %d", len(got.Entries), processes*each)
	}
	if n := lines(t, path); n > maxLines {
		t.Errorf("%d lines: it was not cut back", n)
	}
}

func TestReplay(t *testing.T) {
	const (
		start  = `{"v":1,"uid":"u","command":"ocr review","started_at":"2026-03-02T08:00:00.000Z","event":"start","writer":"dashboard"}`
		finish = `{"v":1,"uid":"u","db_id":7,"command":"ocr review","args":"[]","exit_code":0,"started_at":"2026-03-02T08:00:00.000Z","finished_at":"2026-03-02T08:05:00.000Z","is_detached":true,"event":"finish","writer":"dashboard"}`
		later  = `{"v":1,"uid":"u","command":"ocr review","exit_code":-2,"started_at":"2026-03-02 08:00:00","finished_at":"2026-03-02 08:06:00","is_detached":1,"event":"cancel"}`
		other  = `{"v":1,"uid":"a","command":"c","exit_code":1,"started_at":"2026-03-02 07:00:00","finished_at":"2026-03-02 07:01:00","is_detached":0,"event":"finish"}`
	)
	cases := map[string]struct {
		text         string
		codes        []int64 // of the entries that come back
		bad, started int
	}{
		"Empty":           {"", nil, 0, 0},
		"StartOnly":       {start + "\n", nil, 0, 1},
		"Finished":        {start + "\n" + finish + "\n", []int64{0}, 0, 0},
		"FinishBeatsLate": {finish + "\n" + start + "\n", []int64{0}, 0, 0},
		"LatestCounts":    {finish + "\n" + later + "\n", []int64{-2}, 0, 0},
		"Order":           {start + "\n" + other + "\n" + finish + "\n", []int64{0, 1}, 0, 0},
		"BlankLines":      {"\n" + finish + "\r\n\n", []int64{0}, 0, 0},
		"NoLastEnd":       {finish, []int64{0}, 0, 0},
		"Bad": {"nonsense\n" + `{"v":2,"uid":"x","command":"c","started_at":"t","event":"start"}` + "\n" +
			`{"v":1,"uid":"","command":"c","started_at":"t","event":"start"}` + "\n" +
			`{"v":1,"uid":"x","command":"c","started_at":"t","event":"finish"}` + "\n" +
			`{"v":1,"uid":"x","command":"c","started_at":"t","event":"other"}` + "\n" +
			`[]` + "\n" + strings.Repeat("a", maxLineBytes+100) + "\n" + finish + "\n", []int64{0}, 7, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := log(t)
			write(t, path, c.text)
			got := replay(t, path)
			var codes []int64
			for _, e := range got.Entries {
				codes = append(codes, *e.ExitCode)
			}
			if fmt.Sprint(codes) != fmt.Sprint(c.codes) || got.Bad != c.bad || got.Started != c.started {
				t.Errorf("got %v, %d bad, %d only started; want %v, %d, %d", codes, got.Bad, got.Started, c.codes, c.bad, c.started)
			}
		})
	}
	t.Run("NoLog", func(t *testing.T) {
		if got := replay(t, log(t)); len(got.Entries) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}
