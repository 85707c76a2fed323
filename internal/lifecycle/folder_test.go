package lifecycle_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ocr/internal/lifecycle"
)

// TestFolderTaken: the folder of one session is never that of another, whatever
// path leads there.
func TestFolderTaken(t *testing.T) {
	begin := func(d *desk, id, dir string) error {
		_, err := lifecycle.Begin(context.Background(), d.Caller, lifecycle.BeginRequest{SessionID: id, Branch: "b", Workflow: "review", Dir: dir})
		return err
	}
	result := func(d *desk) string {
		text, err := os.ReadFile(filepath.Join(d.Project.Sessions(), "s", "rounds", "round-1", "round-meta.json"))
		must(t, err)
		return string(text)
	}
	link := func(t *testing.T, target, at string) {
		t.Helper()
		if err := os.Symlink(target, at); err != nil {
			t.Skip("this system makes no symbolic links here: ", err)
		}
	}
	t.Run("Begin", func(t *testing.T) {
		d := newDesk(t)
		d.completed("s", "review")
		sessions := d.Project.Sessions()
		link(t, "s", filepath.Join(sessions, "t"))
		outside := filepath.Join(t.TempDir(), "out")
		link(t, filepath.Join(sessions, "s"), outside)
		before := result(d)
		for _, dir := range []string{"", filepath.Join(sessions, "s"), sessions + "/./s/", sessions + "/x/../s", filepath.Join(sessions, "t"), outside} {
			no := d.refused(lifecycle.Invariant, lifecycle.KindFolderTaken, func() error { return begin(d, "t", dir) })
			if !strings.Contains(no.Message, `"s"`) || !strings.Contains(no.Hint, "--session-id=s") {
				t.Errorf("%s: %+v", dir, no)
			}
		}
		if result(d) != before {
			t.Error("the result changed")
		}
		must(t, begin(d, "u", filepath.Join(sessions, "of-u")))
		d.refused(lifecycle.Invariant, lifecycle.KindFolderTaken, func() error { return begin(d, "of-u", "") })
	})
	for name, prepare := range map[string]func(t *testing.T, d *desk){
		"Relative": func(t *testing.T, d *desk) {
			d.sql("UPDATE sessions SET session_dir = './.ocr/sessions/x/../s' WHERE id = 't'")
		},
		"Link": func(t *testing.T, d *desk) {
			must(t, os.RemoveAll(filepath.Join(d.Project.Sessions(), "t")))
			link(t, "s", filepath.Join(d.Project.Sessions(), "t"))
		},
		"InnerLink": func(t *testing.T, d *desk) {
			link(t, "../s/rounds", filepath.Join(d.Project.Sessions(), "t", "rounds"))
		},
		"InnerLinkDeeper": func(t *testing.T, d *desk) {
			must(t, os.Mkdir(filepath.Join(d.Project.Sessions(), "t", "rounds"), 0o755))
			link(t, "../../s/rounds/round-1", filepath.Join(d.Project.Sessions(), "t", "rounds", "round-1"))
		},
	} {
		t.Run("Complete"+name, func(t *testing.T) {
			d := newDesk(t)
			d.completed("s", "review")
			d.begin("t", "review")
			d.walk("t", "synthesis")
			prepare(t, d)
			before := result(d)
			d.refused(lifecycle.Invariant, lifecycle.KindFolderTaken, func() error {
				_, err := d.completeRound("t", `{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`)
				return err
			})
			if result(d) != before {
				t.Error("the result of s changed")
			}
		})
	}
	t.Run("Sync", func(t *testing.T) {
		d := newDesk(t)
		d.begin("t", "review")
		must(t, os.Rename(filepath.Join(d.Project.Sessions(), "t"), filepath.Join(d.Project.Sessions(), "found")))
		must(t, os.WriteFile(filepath.Join(d.Project.Sessions(), "found", "context.md"), []byte("x"), 0o644))
		link(t, "found", filepath.Join(d.Project.Sessions(), "t"))
		done, err := lifecycle.Sync(t.Context(), d.Caller)
		if err != nil || len(done.Sessions) != 0 || len(done.Skipped) != 1 || !strings.Contains(done.Skipped[0].Reason, `"t"`) {
			t.Errorf("%+v %v", done, err)
		}
	})
}

// holdCure runs the next command of a refusal as it is printed: it cures.
func (d *desk) holdCure(refusal error, payload string) {
	d.t.Helper()
	var refused *lifecycle.Error
	if !errors.As(refusal, &refused) {
		d.t.Fatalf("no refusal: %v", refusal)
	}
	if strings.HasPrefix(refused.Hint, "sqlite3 ") {
		if _, err := exec.LookPath("sqlite3"); err != nil {
			return
		}
	}
	if out, err := exec.Command("sh", "-c", refused.Hint).CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v %s", refused.Hint, err, out)
	}
	done, err := d.completeRound("s", payload)
	if err != nil || !strings.HasPrefix(done.MetaPath, d.Project.Sessions()) {
		d.t.Errorf("after %s: %+v %v", refused.Hint, done, err)
	}
}

// TestFolderOutside: a stored path that leads out of .ocr is written to only if
// it is the one that begin was told and has made.
func TestFolderOutside(t *testing.T) {
	const payload = `{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`
	at := func(t *testing.T, dir string) *desk {
		t.Helper()
		d := newDesk(t)
		d.begin("s", "review")
		d.walk("s", "synthesis")
		must(t, os.RemoveAll(filepath.Join(d.Project.Sessions(), "s")))
		d.sql("UPDATE sessions SET session_dir = '" + dir + "'")
		return d
	}
	outside := t.TempDir()
	for name, dir := range map[string]string{
		"Relative": "../../esc", "RelativeThere": "../..", "Gone": filepath.Join(outside, "gone"), "Dots": outside + "/x/..", "RelativeGone": "notes/s",
	} {
		t.Run(name, func(t *testing.T) {
			d := at(t, dir)
			must(t, os.MkdirAll(filepath.Join(outside, "x"), 0o755))
			d.refused(lifecycle.Invariant, lifecycle.KindFolderOutside, func() error { _, err := d.completeRound("s", payload); return err })
			_, refusal := d.completeRound("s", payload)
			d.holdCure(refusal, payload)
			if found, err := os.ReadDir(outside); err != nil || len(found) != 1 {
				t.Errorf("%v %v", found, err)
			}
			for _, made := range []string{"notes", "../../esc", "../../rounds"} {
				if _, err := os.Lstat(filepath.Join(d.Project.Root, made)); !os.IsNotExist(err) {
					t.Errorf("%s was made: %v", made, err)
				}
			}
		})
	}
	t.Run("AsBegun", func(t *testing.T) {
		d := newDesk(t)
		dir := filepath.Join(t.TempDir(), "mine")
		_, err := lifecycle.Begin(t.Context(), d.Caller, lifecycle.BeginRequest{SessionID: "s", Branch: "b", Workflow: "review", Dir: dir + "/./"})
		must(t, err)
		d.walk("s", "synthesis")
		done, err := d.completeRound("s", payload)
		if err != nil || !strings.HasPrefix(done.MetaPath, dir) {
			t.Errorf("%+v %v", done, err)
		}
	})
	t.Run("RelativeInProject", func(t *testing.T) {
		d := at(t, "reviews/s")
		must(t, os.MkdirAll(filepath.Join(d.Project.Root, "reviews", "s"), 0o755))
		_, err := d.completeRound("s", payload)
		must(t, err)
	})
}

// TestArtifactRights: what is made for a session can be read by those who may
// read the database, and by nobody else.
func TestArtifactRights(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("this system has no such modes")
	}
	d := newDesk(t)
	d.begin("first", "review")
	must(t, os.Chmod(d.Project.Database(), 0o600))
	d.completed("s", "review")
	dir := filepath.Join(d.Project.Sessions(), "s")
	for path, want := range map[string]os.FileMode{
		dir: 0o700, filepath.Join(dir, "rounds"): 0o700, filepath.Join(dir, "rounds", "round-1", "round-meta.json"): 0o600,
	} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", path, info.Mode(), want)
		}
	}
}
