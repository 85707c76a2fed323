package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUpgrade brings a file of every earlier version to this one.
func TestUpgrade(t *testing.T) {
	for version := 1; version <= SharedLatest+1; version++ {
		t.Run(fmt.Sprintf("From%d", version), func(t *testing.T) {
			path := oldFile(t, version)
			before := readContent(t, path)
			var notice []string
			s, err := Open(t.Context(), path, Options{Notice: func(line string) { notice = append(notice, line) }})
			must(t, err)
			must(t, s.Close())
			wantUpgraded(t, path)
			wantKept(t, before, readContent(t, path))
			label := fmt.Sprintf("v%d", version)
			if got := snapshots(t, path); !slices.Equal(got, []string{label}) {
				t.Fatalf("snapshots %v, want %s", got, label)
			}
			wantSnapshot(t, path+snapshotMark+label, version, before)
			want := fmt.Sprintf("upgraded %s from schema version %d to %d; as it was: %s", path, version, Latest(), path+snapshotMark+label)
			if len(notice) == 0 || notice[0] != want {
				t.Errorf("notice %q, want %q", notice, want)
			}
			s, err = Open(t.Context(), path, Options{Notice: func(line string) { t.Errorf("said again: %s", line) }})
			must(t, err)
			must(t, s.Close())
		})
	}
}

// TestUpgradeLegacy opens every database of the folder that LEGACY_DIR names.
func TestUpgradeLegacy(t *testing.T) {
	dir := os.Getenv("LEGACY_DIR")
	if dir == "" {
		t.Skip("LEGACY_DIR names no folder of databases that other programs made")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", ".ocr", "data", "ocr.db"))
	must(t, err)
	if len(files) == 0 {
		t.Fatalf("no database below %s", dir)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(file)))), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ocr.db")
			must(t, copyFile(file, path))
			must(t, os.Chmod(path, 0o644))
			before := readContent(t, path)
			done, err := Migrate(t.Context(), path, Options{})
			must(t, err)
			wantUpgraded(t, path)
			after := readContent(t, path)
			after["command_executions"] = slices.DeleteFunc(after["command_executions"], func(row map[string]string) bool { return strings.HasPrefix(row["uid"], "'ag-") })
			wantKept(t, before, after)
			wantSnapshot(t, done.Snapshot, done.From, before)
		})
	}
}

// TestCarryOver holds step 11 to what it makes of an agent process.
func TestCarryOver(t *testing.T) {
	path := oldFile(t, 10)
	raw(t, path, `INSERT INTO agent_sessions (id, workflow_id, vendor, status, exit_code, started_at, last_heartbeat_at)
		VALUES ('a-zero', 'r-done', 'v', 'crashed', 0, '2026-01-01 10:00:03.5', '2026-01-01 10:32:30')`)
	done, err := Migrate(t.Context(), path, Options{})
	must(t, err)
	if len(done.Notes) != 1 || !strings.HasPrefix(done.Notes[0], "1 rows of agent_sessions were passed over") || !strings.HasSuffix(done.Notes[0], ": u-2") {
		t.Errorf("notes %q", done.Notes)
	}
	var got []string
	must(t, Read(t.Context(), path, func(ctx context.Context, r *Reader) (err error) {
		got, err = names(ctx, r.conn, `
SELECT concat_ws('|', uid, command, ifnull(exit_code, '-'), ifnull(finished_at, '-'), ifnull(pid, '-'), workflow_id, last_heartbeat_at, ifnull(replace(notes, char(10), '/'), '-'))
FROM command_executions WHERE uid LIKE 'a-%' ORDER BY id`)
		return err
	}))
	want := []string{
		"a-done|session-instance:principal-1|0|2026-01-01 10:40:00|5|r-done|2026-01-01 10:30:00|note/phase: reviews",
		"a-dead|session-instance|1|2026-01-01 10:31:00|-|r-done|2026-01-01 10:31:00|-",
		"a-code|session-instance|137|2026-01-01 10:32:00|6|r-done|2026-01-01 10:32:00|phase: analysis",
		"a-zero|session-instance|1|2026-01-01 10:32:30|-|r-done|2026-01-01 10:32:30|-",
		"a-stop|session-instance:p-0|-2|2026-01-01 10:43:00|7|m-open|2026-01-01 10:33:00|",
		"a-lost|session-instance|-3|2026-01-01 10:34:00|8|m-open|2026-01-01 10:34:00|-",
		"a-runs|session-instance:p-2|-|-|9|m-open|2026-01-01 10:35:00|-",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestUpgradeRefuses holds what is no version of the schema: it is told apart
// and nothing is touched.
func TestUpgradeRefuses(t *testing.T) {
	for _, c := range []struct {
		name       string
		version    int
		statements []string
		kind       Kind
		// want is a part of the message.
		want string
	}{
		{"NoLedger", 6, []string{"DROP TABLE schema_version"}, KindHalfUpgraded, "no ledger"},
		{"NoRows", 6, []string{"DELETE FROM schema_version"}, KindHalfUpgraded, "is empty"},
		{"Gap", 6, []string{"DELETE FROM schema_version WHERE version = 4"}, KindHalfUpgraded, "5 good rows of 5"},
		{"Doubled", 6, []string{
			"CREATE TABLE other AS SELECT * FROM schema_version", "DROP TABLE schema_version", "ALTER TABLE other RENAME TO schema_version",
			"INSERT INTO schema_version SELECT * FROM schema_version WHERE version = 4",
		}, KindHalfUpgraded, "6 good rows of 7"},
		{"Zero", 6, []string{"INSERT INTO schema_version VALUES (0, '', '')"}, KindHalfUpgraded, "6 good rows of 7"},
		{"TableMissing", 6, []string{"DROP TABLE user_notes"}, KindHalfUpgraded, "step 1 (column user_notes.content)"},
		{"ColumnMissing", 6, []string{"ALTER TABLE review_rounds DROP COLUMN source"}, KindHalfUpgraded, "step 6 (column review_rounds.source)"},
		{"ColumnEarly", 6, []string{"ALTER TABLE review_findings ADD COLUMN category TEXT"}, KindHalfUpgraded, "column review_findings.category, which step 7 brings"},
		{"TableEarly", 9, []string{"CREATE TABLE agent_sessions (id TEXT)"}, KindHalfUpgraded, "table agent_sessions, which step 10 brings"},
		{"ViewEarly", 14, []string{"CREATE VIEW session_drift AS SELECT 1"}, KindHalfUpgraded, "view session_drift, which step 21 brings"},
		{"TableLate", 12, []string{"CREATE TABLE agent_sessions (id TEXT)"}, KindHalfUpgraded, "table agent_sessions, which step 11 takes away"},
		{"LedgerLost", Latest(), []string{"DROP TABLE schema_migrations"}, KindHalfUpgraded, "brings"},
		{"OwnAhead", 6, []string{ledgerSQL, "INSERT INTO schema_migrations VALUES (20, 0)"}, KindHalfUpgraded, "schema_version only of 6"},
		{"OwnColumnMissing", Latest() - 1, []string{
			"DROP VIEW agent_journal", "ALTER TABLE process_identity DROP COLUMN phase",
		}, KindOutOfOrder, "step 23 (column process_identity.phase)"},
		{"OwnTableMissing", Latest(), []string{"DROP VIEW agent_journal", "DROP TABLE process_identity"}, KindOutOfOrder, "step 23 (table process_identity)"},
		{"Dirty", 18, []string{"UPDATE schema_migrations SET dirty = 1", "DROP VIEW session_completeness"}, KindDirty, "18"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := oldFile(t, c.version)
			raw(t, path, append([]string{"PRAGMA foreign_keys = OFF"}, c.statements...)...)
			write(t, path+".bak.v1", "the newest")
			before := state(t, filepath.Dir(path))
			for name, try := range map[string]func() error{
				"open": func() error { _, err := Open(t.Context(), path, Options{}); return err },
				"read": func() error {
					return ReadUpgraded(t.Context(), path, Options{}, func(context.Context, *Reader) error { return nil })
				},
				"migrate": func() error { _, err := Migrate(t.Context(), path, Options{NoSnapshot: true}); return err },
			} {
				err := try()
				wantKind(t, err, c.kind)
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %q lacks %q", name, err, c.want)
				}
				var e *Error
				if errors.As(err, &e); e.Path != path || c.kind != KindDirty && !strings.Contains(e.Hint, ".bak.v1") {
					t.Errorf("%s: path %q, hint %q", name, e.Path, e.Hint)
				}
			}
			must(t, os.RemoveAll(path+".lock"))
			if after := state(t, filepath.Dir(path)); after != before {
				t.Errorf("changed\n%sto\n%s", before, after)
			}
		})
	}
}

// TestAdopt holds odd files that are good enough to go on from.
func TestAdopt(t *testing.T) {
	for _, c := range []struct {
		name       string
		version    int
		statements []string
		restored   []string
		notice     string
	}{
		{"ForeignTable", 7, []string{"CREATE TABLE somebodys (a)", "INSERT INTO somebodys VALUES (1)"}, nil, ""},
		{"StockLedger", 7, []string{"CREATE TABLE schema_migrations (version uint64, dirty bool)"}, nil, ""},
		{"LedgerBehind", 9, []string{ledgerSQL, "INSERT INTO schema_migrations VALUES (3, 0)"}, nil, ""},
		{"NewerShared", 14, []string{"INSERT INTO schema_version VALUES (15, '', 'later'), (17, '', 'more')"}, nil, "version 17 of the shared schema"},
		{"IndexLost", 12, []string{"DROP INDEX idx_command_executions_parent"}, []string{"index idx_command_executions_parent"}, "restored the index"},
		{"GuardLost", 13, []string{"DROP TRIGGER trg_sessions_close_guard", "DROP VIEW session_completeness"}, []string{"trigger trg_sessions_close_guard", "view session_completeness"}, ""},
		{"OwnViewLost", Latest() - 1, []string{"DROP VIEW session_drift"}, []string{"view session_drift"}, ""},
		{"Orphans", 10, []string{"DELETE FROM review_rounds", "UPDATE agent_sessions SET workflow_id = 'none'"}, nil, ""},
		{"WriteAheadLog", 8, []string{"PRAGMA journal_mode = WAL"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := oldFile(t, c.version)
			raw(t, path, append([]string{"PRAGMA foreign_keys = OFF"}, c.statements...)...)
			before := readContent(t, path)
			said := ""
			s, err := Open(t.Context(), path, Options{Notice: func(line string) { said += line + "\n" }})
			must(t, err)
			must(t, s.Close())
			for _, name := range c.restored {
				if !strings.Contains(said, "restored the "+name) {
					t.Errorf("%q does not tell of %s", said, name)
				}
			}
			if _, err := Migrate(t.Context(), path, Options{}); err != nil {
				t.Error(err)
			}
			if c.name == "NewerShared" {
				must(t, openWarned(t, path, c.notice))
			}
			raw(t, path, "DELETE FROM schema_version WHERE version > 14")
			raw(t, path, "DROP TABLE IF EXISTS somebodys")
			delete(before, "somebodys")
			wantUpgraded(t, path)
			wantKept(t, before, readContent(t, path))
		})
	}
}

func openWarned(t *testing.T, path, want string) error {
	t.Helper()
	said := ""
	s, err := Open(t.Context(), path, Options{Notice: func(line string) { said += line }})
	if err == nil && !strings.Contains(said, want) {
		t.Errorf("%q lacks %q", said, want)
	}
	return join(err, s.Close())
}

// TestReconcileInStep holds the caller's repair to the transaction of its step.
func TestReconcileInStep(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		path := oldFile(t, 5)
		runs := 0
		done, err := Migrate(t.Context(), path, Options{Reconcile: func(ctx context.Context, tx *Tx) ([]string, error) {
			runs++
			var step, round int
			if err := tx.conn.QueryRowContext(ctx, "SELECT max(version) FROM schema_version").Scan(&step); err != nil {
				return nil, err
			}
			err := tx.conn.QueryRowContext(ctx, "SELECT current_round FROM session_current WHERE session_id = 'r-done'").Scan(&round)
			if step != guardStep || round != 2 {
				t.Errorf("at step %d, round %d", step, round)
			}
			_, execErr := tx.conn.ExecContext(ctx, "INSERT INTO orchestration_events (session_id, event_type) VALUES ('r-done', 'session_legacy_import')")
			return []string{"one", "two"}, join(err, execErr)
		}})
		must(t, err)
		if runs != 1 || !slices.Equal(done.Notes, []string{"one", "two"}) {
			t.Errorf("%d runs, notes %q", runs, done.Notes)
		}
		wantUpgraded(t, path)
		if got := number(t, path, "SELECT count(*) FROM orchestration_events WHERE event_type = 'session_legacy_import'"); got != 1 {
			t.Errorf("%d events", got)
		}
	})

	t.Run("Fails", func(t *testing.T) {
		path := oldFile(t, 5)
		done, err := Migrate(t.Context(), path, Options{Reconcile: func(ctx context.Context, tx *Tx) ([]string, error) {
			_, err := tx.conn.ExecContext(ctx, "INSERT INTO orchestration_events (session_id, event_type) VALUES ('r-done', 'session_legacy_import')")
			return []string{"never happened"}, join(err, errWanted)
		}})
		if !errors.Is(err, errWanted) || len(done.Notes) != 0 || done.To != guardStep-1 {
			t.Errorf("error %v, notes %q, at %d", err, done.Notes, done.To)
		}
		if got := number(t, path, "SELECT max(version) FROM schema_version"); got != guardStep-1 {
			t.Errorf("at version %d", got)
		}
		if got := number(t, path, "SELECT count(*) FROM orchestration_events WHERE event_type = 'session_legacy_import'"); got != 0 {
			t.Errorf("%d events", got)
		}
		_, err = Migrate(t.Context(), path, Options{})
		must(t, err)
		wantUpgraded(t, path)
	})

	t.Run("NotAgain", func(t *testing.T) {
		path := oldFile(t, guardStep)
		_, err := Migrate(t.Context(), path, Options{Reconcile: func(context.Context, *Tx) ([]string, error) {
			t.Error("the step was there already")
			return nil, nil
		}})
		must(t, err)
	})
}
