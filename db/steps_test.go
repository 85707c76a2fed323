package db

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func stepNames(t *testing.T) []string {
	t.Helper()
	entries, err := embedded.ReadDir("schema")
	must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestSteps holds the files in db/schema to the rules.
func TestSteps(t *testing.T) {
	shape := regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.up\.sql$`)
	for i, name := range stepNames(t) {
		t.Run(name, func(t *testing.T) {
			match := shape.FindStringSubmatch(name)
			if match == nil || match[1] != fmt.Sprintf("%04d", i+1) {
				t.Fatalf("db/schema/%s: want %04d_noun.up.sql", name, i+1)
			}
			body, err := embedded.ReadFile("schema/" + name)
			must(t, err)
			if at := strings.IndexFunc(string(body), func(r rune) bool { return r > 126 || r < 32 && r != '\n' }); at >= 0 {
				t.Errorf("db/schema/%s: byte %d is no plain ASCII", name, at)
			}
			if word := forbidden(t, string(body)); word != "" {
				t.Errorf("db/schema/%s: a step must not say %s: it runs inside one transaction", name, word)
			}
		})
	}
	if word := forbidden(t, "CREATE TRIGGER a AFTER INSERT ON b BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END; commit;"); word != "COMMIT" {
		t.Errorf("the rule itself is blind: %q", word)
	}
}

// forbidden returns the first statement that ends or leaves the transaction.
func forbidden(t *testing.T, body string) string {
	t.Helper()
	words, err := tokens(body)
	must(t, err)
	depth, first, trigger := 0, true, false
	for i, word := range words {
		if first {
			trigger = word.is("CREATE") && (words[i+1].is("TRIGGER") || words[i+2].is("TRIGGER"))
			for _, bad := range []string{"PRAGMA", "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "VACUUM", "ATTACH", "DETACH"} {
				if word.is(bad) {
					return bad
				}
			}
		}
		switch {
		case trigger && (word.is("BEGIN") || word.is("CASE")):
			depth++
		case trigger && word.is("END"):
			depth--
		}
		first = word.is(";") && depth == 0
	}
	return ""
}

// TestStepByStep runs every step from the version before, and compares with
// a database that got all at once.
func TestStepByStep(t *testing.T) {
	path := at(t, SharedLatest)
	raw(t, path, "INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('s', 'b', 'review', 'd')")
	for version := SharedLatest + 1; version <= Latest(); version++ {
		notice := ""
		openAt(t, path, version, func(line string) { notice = line })
		if want := fmt.Sprintf("from schema version %d to %d", version-1, version); !strings.Contains(notice, want) {
			t.Errorf("notice %q lacks %q", notice, want)
		}
		if got := number(t, path, "SELECT version FROM schema_migrations WHERE dirty = 0"); got != version {
			t.Fatalf("at version %d, want %d", got, version)
		}
	}
	if got := number(t, path, "SELECT count(*) FROM sessions"); got != 1 {
		t.Errorf("%d sessions left of 1", got)
	}
	if a, b := objects(t, path), objects(t, fresh(t)); !slices.Equal(a, b) {
		t.Errorf("step by step\n%v\nat once\n%v", a, b)
	}

	old := filepath.Join(t.TempDir(), "ocr.db")
	d := driverOn(t, old)
	for version := 1; version <= Latest(); version++ {
		must(t, opener{path: old, steps: stepsTo(t, version)}.up(d))
	}
	if a, b := objects(t, old), objects(t, path); !slices.Equal(a, b) {
		t.Errorf("one transaction a step\n%v\nat once\n%v", a, b)
	}
}

func objects(t *testing.T, path string) []string {
	t.Helper()
	var list []string
	must(t, Read(t.Context(), path, func(ctx context.Context, r *Reader) error {
		list = nil
		rows, err := r.Query(ctx, "SELECT type || ' ' || name || ' ' || IFNULL(sql, '') FROM sqlite_schema ORDER BY 1")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			list = append(list, line)
		}
		return rows.Err()
	}))
	return list
}
