package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"
)

// TestScript plays testdata/script. Beside the commands of testscript there are
//
//	[!] ocr ARGS... [< FILE]        run the program; it must succeed (fail)
//	exit CODE ocr ARGS... [< FILE]  run it; it must end with that code
//	[!] sql DB STATEMENT            run SQL; rows go to stdout, columns parted by |
//	[!] json PATH VALUE             stdout is one JSON value that holds it
//	old VERSION DB                  make a database of an earlier version
//
// PATH is like error.code or events.0.id, "." is the whole. VALUE is the text of
// a string, or JSON.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ocr": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := runInScript(ts, args); (code != exitOK) != neg {
					ts.Fatalf("ocr ended with %d", code)
				}
			},
			"exit": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 || args[1] != "ocr" {
					ts.Fatalf("usage: exit CODE ocr ARGS... [< FILE]")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				if code := runInScript(ts, args[2:]); code != want {
					ts.Fatalf("ocr ended with %d, want %d", code, want)
				}
			},
			"sql":  sqlInScript,
			"json": jsonInScript,
			"old":  oldInScript,
		},
	})
}

func runInScript(ts *testscript.TestScript, args []string) int {
	var stdin io.Reader = strings.NewReader("")
	if n := len(args); n >= 2 && args[n-2] == "<" {
		stdin = strings.NewReader(ts.ReadFile(args[n-1]))
		args = args[:n-2]
	}
	return run(context.Background(), args, stdin, ts.Stdout(), ts.Stderr(), ts.Getenv, ts.MkAbs("."))
}

func sqlInScript(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sql DB STATEMENT")
	}
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(ts.MkAbs(args[0]))}
	db, err := sql.Open("sqlite", address.String())
	ts.Check(err)
	defer db.Close()
	text, err := queryText(db, args[1])
	if err != nil {
		fmt.Fprintln(ts.Stderr(), err)
	}
	if (err != nil) != neg {
		ts.Fatalf("sql: error %v", err)
	}
	fmt.Fprint(ts.Stdout(), text)
}

func queryText(db *sql.DB, statement string) (string, error) {
	rows, err := db.Query(statement)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return "", err
		}
		texts := make([]string, len(columns))
		for i, value := range values {
			texts[i] = "NULL"
			if value.Valid {
				texts[i] = value.String
			}
		}
		fmt.Fprintln(&b, strings.Join(texts, "|"))
	}
	return b.String(), rows.Err()
}

func jsonInScript(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	decoder.UseNumber()
	var value any
	ts.Check(decoder.Decode(&value))
	if _, err := decoder.Token(); err != io.EOF {
		ts.Fatalf("stdout holds more than one JSON value")
	}
	got := lookUp(value, args[0])
	if slices.Contains(got, args[1]) == neg {
		ts.Fatalf("%s is %q, not as wanted: %q", args[0], got, args[1])
	}
}

// lookUp returns the texts that the value at path may be compared with; none
// when there is no such value.
func lookUp(value any, path string) []string {
	for key := range strings.SplitSeq(strings.Trim(path, "."), ".") {
		if key == "" {
			continue
		}
		switch inner := value.(type) {
		case map[string]any:
			next, ok := inner[key]
			if !ok {
				return nil
			}
			value = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			value = inner[i]
		default:
			return nil
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil
	}
	texts := []string{strings.TrimSpace(b.String())}
	if text, ok := value.(string); ok {
		texts = append(texts, text)
	}
	return texts
}
