package db

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var stampedLabel = regexp.MustCompile(`^(v8|doctor)\.\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z$`)

// TestSnapshotName holds what becomes of a snapshot whose name is taken.
func TestSnapshotName(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		// stays says that the one that is there is good enough.
		stays bool
	}{
		{"Same", func(t *testing.T, path string) { must(t, copyFile(path, path+".bak.v8")) }, true},
		{"SameRowsOtherPages", func(t *testing.T, path string) {
			must(t, copyFile(path, path+".bak.v8"))
			raw(t, path+".bak.v8", "PRAGMA page_size = 8192", "VACUUM")
		}, true},
		{"OtherRow", func(t *testing.T, path string) {
			must(t, copyFile(path, path+".bak.v8"))
			raw(t, path+".bak.v8", "UPDATE user_notes SET content = content || ' ' WHERE id = 3")
		}, false},
		{"RowMore", func(t *testing.T, path string) {
			must(t, copyFile(path, path+".bak.v8"))
			raw(t, path+".bak.v8", "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', 'x')")
		}, false},
		{"OtherType", func(t *testing.T, path string) {
			must(t, copyFile(path, path+".bak.v8"))
			raw(t, path+".bak.v8", "UPDATE user_notes SET content = CAST(content AS BLOB) WHERE id = 1")
		}, false},
		{"OtherVersion", func(t *testing.T, path string) {
			must(t, copyFile(path, path+".bak.v8"))
			raw(t, path+".bak.v8", "DELETE FROM schema_version WHERE version = 8")
		}, false},
		{"Empty", func(t *testing.T, path string) { write(t, path+".bak.v8", "") }, false},
		{"Text", func(t *testing.T, path string) { write(t, path+".bak.v8", strings.Repeat("no database ", 999)) }, false},
		{"Damaged", func(t *testing.T, path string) {
			must(t, copyFile(path, path+".bak.v8"))
			damage(t, path+".bak.v8")
		}, false},
		{"Folder", func(t *testing.T, path string) { must(t, os.Mkdir(path+".bak.v8", 0o755)) }, false},
		{"DeadLink", func(t *testing.T, path string) { must(t, os.Symlink("nowhere", path+".bak.v8")) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := oldFile(t, 8)
			c.make(t, path)
			was, _ := os.ReadFile(path + ".bak.v8")
			before := readContent(t, path)
			done, err := Migrate(t.Context(), path, Options{})
			must(t, err)
			if now, _ := os.ReadFile(path + ".bak.v8"); string(now) != string(was) {
				t.Error("the one that was there has changed")
			}
			got := snapshots(t, path)
			if c.stays {
				if !slices.Equal(got, []string{"v8"}) || done.Snapshot != path+".bak.v8" {
					t.Errorf("snapshots %v, said %s", got, done.Snapshot)
				}
				return
			}
			if len(got) != 2 || got[0] != "v8" || !stampedLabel.MatchString(got[1]) || done.Snapshot != path+".bak."+got[1] {
				t.Fatalf("snapshots %v, said %s", got, done.Snapshot)
			}
			wantSnapshot(t, done.Snapshot, 8, before)
		})
	}
}

func TestSnapshot(t *testing.T) {
	t.Run("Label", func(t *testing.T) {
		path := fresh(t)
		snapshot, err := Snapshot(t.Context(), path, "doctor")
		must(t, err)
		if got := snapshots(t, path); len(got) != 1 || !stampedLabel.MatchString(got[0]) || snapshot != path+".bak."+got[0] {
			t.Errorf("snapshots %v, said %s", got, snapshot)
		}
		if got := number(t, snapshot, "SELECT version FROM schema_migrations"); got != Latest() {
			t.Errorf("version %d inside", got)
		}
	})

	t.Run("NoDatabase", func(t *testing.T) {
		_, err := Snapshot(t.Context(), filepath.Join(t.TempDir(), "ocr.db"), "doctor")
		wantKind(t, err, KindNoDatabase)
	})

	t.Run("LeftOver", func(t *testing.T) {
		path := oldFile(t, 8)
		for _, suffix := range []string{"", "-journal", "-wal"} {
			write(t, path+".partial"+suffix, "what a dead process left")
		}
		_, err := Migrate(t.Context(), path, Options{})
		must(t, err)
		if got := snapshots(t, path); !slices.Equal(got, []string{"v8"}) {
			t.Errorf("snapshots %v", got)
		}
	})

	t.Run("BesideWriter", func(t *testing.T) {
		path := oldFile(t, 14)
		raw(t, path, "PRAGMA journal_mode = WAL")
		before := notesSum(t, path)
		stop := foreignWriter(t, path)
		_, err := Migrate(t.Context(), path, Options{})
		written := stop()
		must(t, err)
		if written == 0 {
			t.Error("nothing was written meanwhile")
		}
		for _, file := range []string{path, path + ".bak.v14"} {
			if got := notesSum(t, file); got != before {
				t.Errorf("%s holds half a transaction: %d", file, got)
			}
		}
		wantUpgraded(t, path)
	})

	t.Run("NameFromInside", func(t *testing.T) {
		path := oldFile(t, 8)
		o := newOpener(path, Options{})
		store, err := o.connect("rw")
		must(t, err)
		defer store.Close()
		raw(t, path, "DELETE FROM schema_version WHERE version = 8") // since it was looked at
		must(t, store.on(t.Context(), func(conn *sqlConn) error {
			name, err := o.snapshotVersion(t.Context(), conn)
			if name != path+".bak.v7" {
				t.Errorf("name %s", name)
			}
			return err
		}))
	})
}

// TestSnapshotRefused keeps the file as it was when no snapshot can be kept.
func TestSnapshotRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		disk disk
		kind Kind
	}{
		{"NoRoom", fullDisk{realDisk{}}, KindNoSpace},
		{"NoLink", brokenDisk{realDisk{}, "link"}, KindIO},
		{"NoSync", brokenDisk{realDisk{}, "sync"}, KindIO},
		{"NoRemove", brokenDisk{realDisk{}, "remove"}, KindIO},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := oldFile(t, 8)
			body, err := os.ReadFile(path)
			must(t, err)
			o := newOpener(path, Options{})
			o.disk = c.disk
			_, err = o.open(t.Context())
			wantKind(t, err, c.kind)
			if e := err.(*Error); !strings.Contains(e.Hint, "ocr db migrate --no-snapshot") || !strings.Contains(e.Message, "is not upgraded") {
				t.Errorf("message %q, hint %q", e.Message, e.Hint)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != string(body) {
				t.Errorf("the file has changed (%v)", err)
			}
			done, err := Migrate(t.Context(), path, Options{NoSnapshot: true})
			must(t, err)
			if done.Snapshot != "" {
				t.Errorf("a snapshot all the same: %s", done.Snapshot)
			}
			wantUpgraded(t, path)
		})
	}

	t.Run("Damaged", func(t *testing.T) {
		path := oldFile(t, 8)
		before := number(t, path, "SELECT rootpage FROM sqlite_schema WHERE name = 'user_notes'")
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteAt([]byte(strings.Repeat("\xff", 4000)), int64(before-1)*4096)
		must(t, join(err, f.Close()))
		_, err = Open(t.Context(), path, Options{})
		wantKind(t, err, KindCorrupt)
		if strings.Contains(err.(*Error).Hint, "no-snapshot") {
			t.Errorf("hint %q", err.(*Error).Hint)
		}
		if got := snapshots(t, path); len(got) != 0 {
			t.Errorf("snapshots %v", got)
		}
	})
}

// TestSnapshotIsRead: a copy counts only after all of its pages were looked at.
// Its version alone can be read from one with a damaged table, too.
func TestSnapshotIsRead(t *testing.T) {
	path := fresh(t)
	copied := aSnapshot(t)
	if _, err := newOpener(path, Options{}).checkCopy(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	page := number(t, copied, "SELECT rootpage FROM sqlite_schema WHERE name = 'user_notes'")
	f, err := os.OpenFile(copied, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", 4000)), int64(page-1)*4096)
	must(t, join(err, f.Close()))
	_, err = newOpener(path, Options{}).checkCopy(t.Context(), copied)
	wantKind(t, err, KindCorrupt)
	_, err = CheckSnapshot(t.Context(), copied)
	wantKind(t, err, KindCorrupt)
	wantKind(t, CheckCopy(t.Context(), copied), KindCorrupt)
}

// TestReadUpgraded answers for old files without touching them.
func TestReadUpgraded(t *testing.T) {
	for version := 1; version < Latest(); version += 4 {
		for _, how := range []string{"Quiet", "DeadWriter", "LogWithoutIndex", "LiveWriter"} {
			t.Run(fmt.Sprintf("%s%d", how, version), func(t *testing.T) {
				path := oldFile(t, version)
				private := t.TempDir()
				t.Setenv("TMPDIR", private)
				switch how {
				case "DeadWriter", "LogWithoutIndex":
					raw(t, path, "PRAGMA journal_mode = WAL")
					die(t, "die-raw", path)
					if how == "LogWithoutIndex" {
						must(t, os.Remove(path+"-shm"))
					}
				case "LiveWriter":
					raw(t, path, "PRAGMA journal_mode = WAL")
					holder := newOpener(path, Options{})
					store, err := holder.connect("rw")
					must(t, err)
					defer store.Close()
					must(t, store.on(t.Context(), func(conn *sqlConn) error {
						_, err := conn.ExecContext(t.Context(), "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', 'die')")
						return err
					}))
				}
				before := state(t, filepath.Dir(path))
				var said []string
				notes, completeness := 0, 0
				must(t, ReadUpgraded(t.Context(), path, Options{Notice: func(line string) { said = append(said, line) }}, func(ctx context.Context, r *Reader) error {
					if migrations, _ := r.Schema(); migrations != Latest() {
						t.Errorf("schema %d", migrations)
					}
					return r.conn.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM user_notes), (SELECT count(*) FROM session_completeness)").Scan(&notes, &completeness)
				}))
				want := 2
				if how != "Quiet" {
					want = 3
				}
				if notes != want || completeness != 3 {
					t.Errorf("%d notes, %d sessions, want %d and 3", notes, completeness, want)
				}
				if len(said) != 1 || !strings.Contains(said[0], "'ocr db migrate'") || !strings.Contains(said[0], fmt.Sprintf("version %d", version)) {
					t.Errorf("said %q", said)
				}
				if after := state(t, filepath.Dir(path)); after != before {
					t.Errorf("changed\n%sto\n%s", before, after)
				}
				if left := state(t, private); left != "" {
					t.Errorf("left behind: %s", left)
				}
			})
		}
	}

	t.Run("NoRoom", func(t *testing.T) {
		path := oldFile(t, 9)
		o := newOpener(path, Options{})
		o.disk = fullDisk{realDisk{}}
		err := o.readUpgraded(t.Context(), func(context.Context, *Reader) error { return nil })
		wantKind(t, err, KindNoSpace)
		if hint := err.(*Error).Hint; !strings.Contains(hint, "ocr db migrate") {
			t.Errorf("hint %q", hint)
		}
	})

	t.Run("NoFolder", func(t *testing.T) {
		path := oldFile(t, 9)
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
		wantKind(t, ReadUpgraded(t.Context(), path, Options{}, func(context.Context, *Reader) error { return nil }), KindIO)
	})

	t.Run("Strict", func(t *testing.T) {
		err := readNothing(oldFile(t, 9))
		wantKind(t, err, KindOldSchema)
		if hint := err.(*Error).Hint; !strings.Contains(hint, "ocr db migrate") {
			t.Errorf("hint %q", hint)
		}
	})

	t.Run("Cancelled", func(t *testing.T) {
		path := oldFile(t, 9)
		private := t.TempDir()
		t.Setenv("TMPDIR", private)
		ctx, cancel := context.WithCancel(t.Context())
		err := ReadUpgraded(ctx, path, Options{Reconcile: func(context.Context, *Tx) ([]string, error) { cancel(); return nil, nil }},
			func(context.Context, *Reader) error { return nil })
		if !isContext(err) {
			t.Errorf("error %v", err)
		}
		if left := state(t, private); left != "" {
			t.Errorf("left behind: %s", left)
		}
	})

	t.Run("Killed", func(t *testing.T) {
		path := oldFile(t, 9)
		private := t.TempDir()
		t.Setenv("TMPDIR", private)
		die(t, "die-reading", path)
		left, err := os.ReadDir(private)
		must(t, err)
		if len(left) != 1 {
			t.Fatalf("%d folders were left by the death, want 1", len(left))
		}
		read := func() {
			must(t, ReadUpgraded(t.Context(), path, Options{}, func(context.Context, *Reader) error { return nil }))
		}
		read()
		if _, err := os.Stat(filepath.Join(private, left[0].Name())); err != nil {
			t.Errorf("a new folder counts as left behind: %v", err)
		}
		age(t, filepath.Join(private, left[0].Name()))
		read()
		if text := state(t, private); text != "" {
			t.Errorf("still there: %s", text)
		}
	})
}
