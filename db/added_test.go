package db

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// addedTo makes an old file to which others have added objects.
func addedTo(t *testing.T, version int, statements ...string) string {
	t.Helper()
	path := oldFile(t, version)
	raw(t, path, append([]string{"PRAGMA foreign_keys = OFF"}, statements...)...)
	return path
}

// upgraded migrates and returns what was said.
func upgraded(t *testing.T, path string) string {
	t.Helper()
	done, err := Migrate(t.Context(), path, Options{})
	must(t, err)
	return strings.Join(done.Lines(path), "\n")
}

// TestAddedObjects: what others added to a schema is there after the upgrade,
// with its rows and values, and is named; from every version that can hold it.
func TestAddedObjects(t *testing.T) {
	objects := []string{
		"CREATE VIEW my_ev AS SELECT id, event_type FROM orchestration_events",
		"CREATE VIEW my_over AS SELECT count(*) AS n FROM my_ev",
		"CREATE VIEW my_commands AS SELECT id, command FROM command_executions",
		"CREATE VIEW my_broken AS SELECT x FROM nowhere",
		"ALTER TABLE orchestration_events ADD COLUMN mood TEXT NOT NULL DEFAULT 'none' CHECK (mood <> '')",
		"ALTER TABLE orchestration_events ADD COLUMN \"odd one\" REAL /* mine */ COLLATE NOCASE",
		"ALTER TABLE orchestration_events ADD COLUMN twice INTEGER AS (id * 2)",
		"UPDATE orchestration_events SET mood = 'm' || id, \"odd one\" = CASE WHEN id = 7 THEN x'00ff' ELSE id END",
		"CREATE INDEX my_index ON orchestration_events(mood, twice)",
		"CREATE INDEX my_partial ON command_executions(command) WHERE exit_code IS NULL",
		"CREATE TABLE my_log (what TEXT)",
		"CREATE TABLE my_refs (event INTEGER REFERENCES orchestration_events(id))",
		"INSERT INTO my_refs VALUES (7)",
		"CREATE TRIGGER my_after AFTER INSERT ON orchestration_events BEGIN INSERT INTO my_log VALUES (NEW.event_type); END",
		"CREATE TRIGGER my_elsewhere AFTER INSERT ON user_notes BEGIN INSERT INTO my_log SELECT count(*) FROM orchestration_events; END",
		"CREATE TRIGGER my_instead INSTEAD OF INSERT ON my_over BEGIN INSERT INTO my_log VALUES ('n' || NEW.n); END",
	}
	for _, version := range []int{1, 4, 5, 9, 10, 12, 13, 14} {
		path := addedTo(t, version, objects...)
		before := readContent(t, path)
		for _, table := range []string{"sessions"} {
			if len(before[table]) == 0 {
				t.Fatal("no rows")
			}
		}
		definitions := schemaTexts(t, path)
		said := upgraded(t, path)
		wantKept(t, before, readContent(t, path))
		after := schemaTexts(t, path)
		for name, text := range definitions {
			if after[name] != text {
				t.Errorf("version %d: %s is %q, was %q", version, name, after[name], text)
			}
		}
		if version < 13 && !strings.Contains(said, "made again as they were: ") {
			t.Errorf("version %d: said only\n%s", version, said)
		}
		if version < 5 && !strings.Contains(said, "carried over with their values: column orchestration_events.mood, column orchestration_events.odd one") {
			t.Errorf("version %d: said only\n%s", version, said)
		}
		raw(t, path, "INSERT INTO my_over (n) VALUES (5)")
		if got := number(t, path, "SELECT count(*) FROM my_log WHERE what = 'n5'"); got != 1 {
			t.Errorf("version %d: the trigger on a view does not work", version)
		}
		var drift []string
		for _, d := range driftOf(t, path) {
			if !strings.HasSuffix(d, FaultExtra) {
				drift = append(drift, d)
			}
		}
		if len(drift) > 0 {
			t.Errorf("version %d: differences %q", version, drift)
		}
	}
}

// schemaTexts are the definitions of what is named my_something.
func schemaTexts(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, Inspect(t.Context(), path, func(ctx context.Context, r *Reader) error {
		rows, err := collect(ctx, r.conn, func(d *definition) []any { return []any{&d.name, &d.text} },
			"SELECT name, sql FROM sqlite_schema WHERE name LIKE 'my%'")
		for _, d := range rows {
			all[d.name] = d.text
		}
		return err
	}))
	return all
}

// TestHighestEventID: an id that was given once is not given again because the
// table was made anew.
func TestHighestEventID(t *testing.T) {
	path := addedTo(t, 4, "DELETE FROM orchestration_events WHERE id = 100")
	upgraded(t, path)
	if got := number(t, path, "SELECT seq FROM sqlite_sequence WHERE name = 'orchestration_events'"); got < 100 {
		t.Errorf("the highest id is forgotten: %d", got)
	}
}

// TestAddedRefused: what cannot be kept is refused before anything changes,
// and the statement that is named moves it out of the way.
func TestAddedRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int
		add     string
		// want is in the message, moves in the hint.
		want, moves string
	}{
		{"ViewOfDroppedTable", 10, "CREATE VIEW mine AS SELECT id FROM agent_sessions", "view mine", `DROP VIEW "mine";`},
		{"ViewOfDroppedColumn", 12, "CREATE VIEW mine AS SELECT parent_id FROM command_executions", "view mine", `DROP VIEW "mine";`},
		{"IndexOnDroppedColumn", 12, "CREATE INDEX mine ON command_executions(parent_id, id)", "index mine", `DROP INDEX "mine";`},
		{"TriggerOnDroppedTable", 10, "CREATE TRIGGER mine AFTER INSERT ON agent_sessions BEGIN SELECT 1; END", "trigger mine", `DROP TRIGGER "mine";`},
		{"TriggerUsesDroppedTable", 10, "CREATE TRIGGER mine AFTER INSERT ON user_notes BEGIN DELETE FROM agent_sessions; END", "trigger mine", `DROP TRIGGER "mine";`},
		{"ColumnOfDroppedTable", 10, "ALTER TABLE agent_sessions ADD COLUMN mine TEXT", "column agent_sessions.mine",
			`CREATE TABLE "my_agent_sessions_mine" AS SELECT id, "mine" FROM agent_sessions; ALTER TABLE agent_sessions DROP COLUMN "mine";`},
		{"TableRefersToDropped", 10, "CREATE TABLE mine (a TEXT REFERENCES agent_sessions(id))", "table mine", `CREATE TABLE "my_mine" AS SELECT * FROM "mine"; DROP TABLE "mine";`},
		{"TableOfPassingName", 4, "CREATE TABLE orchestration_events_new (a)", "table orchestration_events_new",
			`ALTER TABLE "orchestration_events_new" RENAME TO "my_orchestration_events_new";`},
		{"ViewOfALaterName", 14, "CREATE VIEW open_findings AS SELECT 1 AS one", "view open_findings",
			`DROP VIEW "open_findings"; CREATE VIEW "my_open_findings" AS SELECT 1 AS one;`},
		{"TableOfALaterName", 9, "CREATE TABLE open_findings (one)", "table open_findings", `ALTER TABLE "open_findings" RENAME TO "my_open_findings";`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := addedTo(t, c.version, c.add)
			before := state(t, filepath.Dir(path))
			kind := KindInTheWay
			if c.name == "ViewOfALaterName" {
				// A program that died half-way may have left it.
				kind = KindHalfUpgraded
			}
			_, err := Migrate(t.Context(), path, Options{})
			wantKind(t, err, kind)
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
			var hint string
			for _, verb := range []func() error{
				func() error { _, err := DryRun(t.Context(), path, 0, Options{}); return err },
				func() error {
					return ReadUpgraded(t.Context(), path, Options{}, func(context.Context, *Reader) error { return nil })
				},
				func() error { _, err := Open(t.Context(), path, Options{}); return err },
			} {
				err := verb()
				wantKind(t, err, kind)
				var known *Error
				if errors.As(err, &known) {
					hint = known.Hint
				}
				if !strings.Contains(hint, c.moves) {
					t.Errorf("the hint is %q", hint)
				}
			}
			if after := state(t, filepath.Dir(path)); stripLock(after) != stripLock(before) {
				t.Errorf("changed\n%s\nto\n%s", before, after)
			}
			raw(t, path, c.moves)
			upgraded(t, path)
			for _, d := range driftOf(t, path) {
				if !strings.HasSuffix(d, FaultExtra) {
					t.Errorf("afterwards %s", d)
				}
			}
		})
	}
}

// stripLock leaves the lock file out, which a writer makes first of all.
func stripLock(state string) string {
	lines := slices.DeleteFunc(strings.Split(state, "\n"), func(line string) bool { return strings.Contains(line, ".lock") })
	return strings.Join(lines, "\n")
}

// TestRowsCounted: rows that a step does not say to write or to take away are
// an error in the step in which they come or go, whoever's table it is.
func TestRowsCounted(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int
		add     []string
		want    string
	}{
		{"Ledger", 4, []string{"CREATE TRIGGER mine AFTER INSERT ON schema_version BEGIN DELETE FROM user_notes; END"}, "2 of 2 rows of user_notes would be lost"},
		{"OwnLedger", 15, []string{"CREATE TRIGGER mine AFTER INSERT ON schema_migrations BEGIN DELETE FROM review_findings; END"}, "2 of 2 rows of review_findings would be lost"},
		{"TableOfOthers", 9, []string{"CREATE TABLE my_log (a)", "INSERT INTO my_log VALUES (1)", "CREATE TRIGGER mine AFTER INSERT ON schema_version BEGIN DELETE FROM my_log; END"}, "1 of 1 rows of my_log would be lost"},
		{"Added", 9, []string{"CREATE TRIGGER mine AFTER INSERT ON schema_version BEGIN INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'x', 'y'); END"}, "user_notes would have 3 rows instead of 2"},
		{"Deleting", 13, []string{"CREATE TRIGGER mine AFTER DELETE ON markdown_artifacts BEGIN DELETE FROM user_notes WHERE id = 3; END"}, "1 of 2 rows of user_notes would be lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := addedTo(t, c.version, c.add...)
			before := readContent(t, path)
			_, err := Migrate(t.Context(), path, Options{})
			wantKind(t, err, KindInTheWay)
			var known *Error
			if !errors.As(err, &known) {
				t.Fatal(err)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mine on ") || !strings.Contains(known.Hint, `DROP TRIGGER "mine";`) {
				t.Errorf("%v; %s", err, known.Hint)
			}
			for table, rows := range before {
				if now := readContent(t, path)[table]; len(now) != len(rows) && table != "schema_version" && table != "agent_sessions" {
					t.Errorf("%s has %d rows, had %d", table, len(now), len(rows))
				}
			}
			raw(t, path, "DROP TRIGGER mine")
			upgraded(t, path)
			wantKept(t, before, readContent(t, path))
		})
	}
	t.Run("Noted", func(t *testing.T) {
		path := addedTo(t, 13, "CREATE TABLE my_log (a)", "CREATE TRIGGER mine AFTER DELETE ON markdown_artifacts BEGIN INSERT INTO my_log VALUES (OLD.id); END")
		upgraded(t, path)
		if got := number(t, path, "SELECT count(*) FROM my_log"); got != 2 {
			t.Errorf("%d notes", got)
		}
	})
}
