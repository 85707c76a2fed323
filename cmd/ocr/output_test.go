package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"ocr/db"
	"ocr/internal/project"
)

const hostile = "a\x1b[31m\r\n\tb\u009b\u202e\x7f\xff"

func TestPrintable(t *testing.T) {
	if got, want := printable(hostile), `a\x1b[31m\x0d`+"\n\t"+`b\u009b\u202e\x7f`+"\uFFFD"; got != want {
		t.Errorf("printable: %q, want %q", got, want)
	}
	if got, want := oneLine("a\nb\tc"), `a\x0ab\x09c`; got != want {
		t.Errorf("oneLine: %q, want %q", got, want)
	}
	if got := printable("<ünï-数据 & \"x\">"); got != "<ünï-数据 & \"x\">" {
		t.Errorf("plain text was changed: %q", got)
	}
}

func TestEncode(t *testing.T) {
	line, err := encode(map[string]string{"k": hostile + "<&>"})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), unprintable) {
		t.Errorf("raw control characters in %q", line)
	}
	var back map[string]string
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	if want := strings.ToValidUTF8(hostile, "\uFFFD") + "<&>"; back["k"] != want {
		t.Errorf("%q came back as %q", want, back["k"])
	}
}

// fullDisk refuses what is written to it.
type fullDisk struct{ asked bool }

func (d *fullDisk) Write([]byte) (int, error) {
	d.asked = true
	return 0, syscall.ENOSPC
}

func TestRun(t *testing.T) {
	t.Run("ResultNotWritten", func(t *testing.T) {
		var stderr bytes.Buffer
		code := run(context.Background(), []string{"version"}, strings.NewReader(""), &fullDisk{}, &stderr,
			func(string) string { return "" }, t.TempDir())
		if code != exitEnvironment || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("exit %d, stderr %q", code, stderr.String())
		}
	})
	t.Run("Panic", func(t *testing.T) {
		var stdout bytes.Buffer
		code := run(context.Background(), []string{"init", "--json"}, strings.NewReader(""), &stdout, io.Discard,
			func(string) string { panic("boom") }, t.TempDir())
		var answer struct{ Error failure }
		if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if code != exitEnvironment || answer.Error.Code != code || answer.Error.Kind != "internal" {
			t.Errorf("exit %d, answer %+v", code, answer)
		}
	})
}

func TestExplain(t *testing.T) {
	cases := map[string]struct {
		err  error
		code int
		kind string
	}{
		"NoProject":   {fmt.Errorf("wrapped: %w", &project.NotFound{Start: "/x"}), exitEnvironment, "no_project"},
		"Blocked":     {&project.Blocked{Path: "/x/.ocr"}, exitEnvironment, "blocked"},
		"BadID":       {project.CheckNewID("feat/x"), exitUsage, "bad_session_id"},
		"NotWritten":  {&outputError{syscall.ENOSPC}, exitEnvironment, "output"},
		"Interrupted": {context.Canceled, exitEnvironment, "interrupted"},
		"ForeignRule": {&db.Error{Kind: db.KindRule, Rule: "not on Sundays", Message: "not on Sundays"}, exitInvariant, "rule"},
		"Busy":        {&db.Error{Kind: db.KindBusy, Message: "m", Hint: "nothing was written"}, exitBusy, "busy"},
		"NoDatabase":  {&db.Error{Kind: db.KindNoDatabase, Message: "m"}, exitNotFound, "no_database"},
		"InTheWay":    {&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOTDIR}, exitEnvironment, "blocked"},
		"Unknown":     {errors.New("odd"), exitEnvironment, "internal"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := explain(c.err)
			if f.Code != c.code || f.Kind != c.kind || f.Message == "" {
				t.Errorf("%+v", f)
			}
			if strings.HasSuffix(f.Hint, ".") || f.Hint != "" && unicode.IsUpper(rune(f.Hint[0])) {
				t.Errorf("the hint %q is not written like the others: small letter first, no stop", f.Hint)
			}
			for _, word := range []string{"rm ", "delete", "--force", "init"} {
				if strings.Contains(f.Hint, word) {
					t.Errorf("the hint %q says %q", f.Hint, word)
				}
			}
		})
	}
	if hint := explain(project.CheckNewID("feat/x")).Hint; !strings.Contains(hint, "feat-x") {
		t.Errorf("hint %q does not name feat-x", hint)
	}
}
