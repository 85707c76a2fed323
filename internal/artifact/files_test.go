package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"ocr/db"
)

// project is a fresh .ocr folder with its sessions, and what lies outside it.
func project(t *testing.T) (boundary, sessions, elsewhere string) {
	t.Helper()
	top := t.TempDir()
	boundary, elsewhere = filepath.Join(top, "p", ".ocr"), filepath.Join(top, "elsewhere")
	sessions = filepath.Join(boundary, "sessions")
	makeAll(t, sessions, elsewhere)
	return boundary, sessions, elsewhere
}

func makeAll(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	makeAll(t, filepath.Dir(name))
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	makeAll(t, filepath.Dir(name))
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func openDir(t *testing.T, boundary, dir string) *Dir {
	t.Helper()
	d, err := OpenDir(db.Rights{}, boundary, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// snapshot describes every entry below dir: kind, mode, content or target.
func snapshot(t interface{ Fatal(...any) }, dir string) []string {
	var all []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", name, info.Mode())
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %v %q", info.ModTime().UnixNano(), text)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantSnapshot(t *testing.T, dir string, want []string) {
	t.Helper()
	if got := snapshot(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s holds\n%q\nwant\n%q", dir, got, want)
	}
}

func TestReplace(t *testing.T) {
	boundary, sessions, _ := project(t)
	dir := filepath.Join(sessions, "s")
	d := openDir(t, boundary, dir)
	name := filepath.Join(dir, "rounds", "round-1", "round-meta.json")
	alone := func(want string) {
		t.Helper()
		entries, err := os.ReadDir(filepath.Dir(name))
		if err != nil || len(entries) != 1 {
			t.Errorf("beside the file: %v, %v", entries, err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("the file holds %q, %v, want %q", got, err, want)
		}
	}
	before := snapshot(t, boundary)

	t.Run("UndoNew", func(t *testing.T) {
		r, err := d.Replace(RoundMeta(1), []byte("one"))
		if err != nil {
			t.Fatal(err)
		}
		alone("one")
		if err := r.Undo(); err != nil {
			t.Fatal(err)
		}
		wantSnapshot(t, boundary, before)
	})
	t.Run("KeepNew", func(t *testing.T) {
		r, err := d.Replace(RoundMeta(1), []byte("one"))
		if err := errors.Join(err, r.Keep(), r.Undo()); err != nil {
			t.Fatal(err)
		}
		alone("one")
	})
	t.Run("UndoOld", func(t *testing.T) {
		if err := os.Chmod(name, 0o640); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, boundary)
		r, err := d.Replace(RoundMeta(1), []byte("two"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != "two" {
			t.Errorf("the file holds %q, %v", got, err)
		}
		if err := errors.Join(r.Undo(), r.Undo(), r.Keep()); err != nil {
			t.Fatal(err)
		}
		wantSnapshot(t, boundary, before)
	})
	t.Run("KeepOld", func(t *testing.T) {
		r, err := d.Replace(RoundMeta(1), []byte("two"))
		if err := errors.Join(err, r.Keep()); err != nil {
			t.Fatal(err)
		}
		alone("two")
	})
	t.Run("UndoLeavesWhatOthersPut", func(t *testing.T) {
		r, err := d.Replace(RoundMeta(2), []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(dir, "rounds", "round-2", "final.md")
		put(t, other, "final")
		if err := r.Undo(); err != nil {
			t.Fatal(err)
		}
		if there, err := Exists(dir, RoundFinal(2)); err != nil || !there {
			t.Errorf("the other file: %v, %v", there, err)
		}
		if there, err := Exists(dir, RoundMeta(2)); err != nil || there {
			t.Errorf("the undone file: %v, %v", there, err)
		}
	})
	t.Run("LinkIsReplacedNotFollowed", func(t *testing.T) {
		secret := filepath.Join(filepath.Dir(boundary), "secret")
		put(t, secret, "secret")
		link(t, secret, filepath.Join(dir, "rounds", "round-3", "round-meta.json"))
		before := snapshot(t, boundary)
		r, err := d.Replace(RoundMeta(3), []byte("three"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
			t.Errorf("the target holds %q, %v", got, err)
		}
		if got, err := Read(dir, RoundMeta(3)); err != nil || string(got) != "three" {
			t.Errorf("the file holds %q, %v", got, err)
		}
		if err := r.Undo(); err != nil {
			t.Fatal(err)
		}
		wantSnapshot(t, boundary, before)
	})
}

// A file system without hard links gets a copy with the same bytes, mode and time.
func TestReplaceCopyAside(t *testing.T) {
	boundary, sessions, _ := project(t)
	name := filepath.Join(sessions, "s", "file")
	put(t, name, "old")
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, boundary)
	d := openDir(t, boundary, filepath.Dir(name))
	r := &Replacement{root: d.root, target: "s/file", path: name}
	if err := r.write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.copyAside(hiddenName(r.target, "old"), info); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("overwritten"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.swapped = true
	if err := r.Undo(); err != nil {
		t.Fatal(err)
	}
	wantSnapshot(t, boundary, before)
}

func TestReplaceFails(t *testing.T) {
	for name, c := range map[string]struct {
		rel     string
		prepare func(t *testing.T, dir string)
		cause   error // nil: any
	}{
		"FileOnTheWay":    {RoundMeta(1), func(t *testing.T, dir string) { put(t, dir+"/rounds", "a file") }, syscall.ENOTDIR},
		"FileDeeper":      {MapMeta(1), func(t *testing.T, dir string) { put(t, dir+"/map/runs", "a file") }, syscall.ENOTDIR},
		"FolderInPlace":   {RoundMeta(1), func(t *testing.T, dir string) { makeAll(t, dir+"/rounds/round-1/round-meta.json") }, syscall.EISDIR},
		"DanglingLink":    {RoundMeta(1), func(t *testing.T, dir string) { link(t, "nowhere", dir+"/rounds") }, nil},
		"LinkLoop":        {RoundMeta(1), func(t *testing.T, dir string) { link(t, "rounds", dir+"/rounds") }, nil},
		"LinkOut":         {RoundMeta(1), func(t *testing.T, dir string) { link(t, dir+"/../../../../elsewhere", dir+"/rounds") }, ErrOutside},
		"LinkOutDeeper":   {RoundMeta(1), func(t *testing.T, dir string) { link(t, "../../../../../elsewhere", dir+"/rounds/round-1") }, ErrOutside},
		"LinkToData":      {RoundMeta(1), func(t *testing.T, dir string) { makeAll(t, dir+"/../../data"); link(t, "../../data", dir+"/rounds") }, ErrOutside},
		"NameLeadsOut":    {"../other/file", func(*testing.T, string) {}, nil},
		"NameAbsolute":    {"/file", func(*testing.T, string) {}, nil},
		"NameTooLong":     {"a/b/" + string(bytes.Repeat([]byte("x"), 300)), func(*testing.T, string) {}, nil},
		"NameOfAReviewer": {Review(1, "../../../../../x", 1), func(*testing.T, string) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			boundary, sessions, elsewhere := project(t)
			dir := filepath.Join(sessions, "s")
			d := openDir(t, boundary, dir)
			c.prepare(t, dir)
			top := filepath.Dir(elsewhere)
			before := snapshot(t, top)
			_, err := d.Replace(c.rel, []byte("x"))
			if err == nil || c.cause != nil && !errors.Is(err, c.cause) || errors.Is(err, ErrOutside) != (c.cause == ErrOutside) {
				t.Errorf("error %v", err)
			}
			wantSnapshot(t, top, before)
		})
	}
}

func TestReplaceInsideLinks(t *testing.T) {
	boundary, sessions, _ := project(t)
	makeAll(t, filepath.Join(sessions, "shared"))
	link(t, "../shared", filepath.Join(sessions, "s", "rounds"))
	r, err := openDir(t, boundary, filepath.Join(sessions, "s")).Replace(RoundMeta(1), []byte("x"))
	if err := errors.Join(err, r.Keep()); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(sessions, "shared/round-1/round-meta.json"); err != nil || string(got) != "x" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestReplaceUndoProperties(t *testing.T) {
	boundary, sessions, _ := project(t)
	dir := filepath.Join(sessions, "s")
	d := openDir(t, boundary, dir)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 3).Draw(t, "round")
		name := rapid.SampledFrom([]func(int64) string{RoundMeta, RoundFinal, MapMeta}).Draw(t, "name")(n)
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		before := snapshot(t, dir)
		r, err := d.Replace(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read(dir, name); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("the file holds %q, %v", got, err)
		}
		if rapid.Bool().Draw(t, "undo") {
			if err := r.Undo(); err != nil {
				t.Fatal(err)
			}
			if after := snapshot(t, dir); !slices.Equal(before, after) {
				t.Fatalf("before\n%q\nafter\n%q", before, after)
			}
			return
		}
		if err := r.Keep(); err != nil {
			t.Fatal(err)
		}
		if hidden, err := filepath.Glob(filepath.Join(dir, filepath.Dir(name), ".*")); err != nil || len(hidden) > 0 {
			t.Fatalf("left behind: %q, %v", hidden, err)
		}
	})
}

func TestOpenDir(t *testing.T) {
	t.Run("New", func(t *testing.T) {
		boundary, sessions, _ := project(t)
		if err := os.Remove(sessions); err != nil {
			t.Fatal(err)
		}
		openDir(t, boundary, filepath.Join(sessions, "a ?#%&\n'é"))
		if info, err := os.Stat(filepath.Join(sessions, "a ?#%&\n'é")); err != nil || !info.IsDir() {
			t.Errorf("%v, %v", info, err)
		}
	})
	t.Run("InsideButNotInSessions", func(t *testing.T) {
		boundary, _, _ := project(t)
		r, err := openDir(t, boundary, filepath.Join(boundary, "other", "s")).Replace("f", nil)
		if err := errors.Join(err, r.Keep()); err != nil {
			t.Fatal(err)
		}
		if there, err := Exists(boundary, "other/s/f"); err != nil || !there {
			t.Errorf("%v, %v", there, err)
		}
	})
	t.Run("Chosen", func(t *testing.T) {
		boundary, _, elsewhere := project(t)
		dir := filepath.Join(elsewhere, "my", "session")
		d := openDir(t, boundary, dir)
		r, err := d.Replace(RoundMeta(1), []byte("x"))
		if err := errors.Join(err, r.Keep()); err != nil {
			t.Fatal(err)
		}
		if there, err := Exists(dir, RoundMeta(1)); err != nil || !there {
			t.Errorf("%v, %v", there, err)
		}
		link(t, filepath.Dir(boundary), filepath.Join(dir, "map"))
		if _, err := d.Replace(MapMeta(1), []byte("x")); !errors.Is(err, ErrOutside) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("ChosenOverLink", func(t *testing.T) {
		boundary, _, elsewhere := project(t)
		makeAll(t, filepath.Join(elsewhere, "real"))
		link(t, "real", filepath.Join(elsewhere, "link"))
		openDir(t, boundary, filepath.Join(elsewhere, "link"))
	})
	t.Run("NoBoundary", func(t *testing.T) {
		_, _, elsewhere := project(t)
		openDir(t, filepath.Join(elsewhere, ".ocr"), filepath.Join(elsewhere, ".ocr", "sessions", "s"))
	})
	t.Run("SameProjectOtherSpelling", func(t *testing.T) {
		boundary, sessions, elsewhere := project(t)
		link(t, filepath.Dir(boundary), filepath.Join(elsewhere, "p"))
		link(t, elsewhere, filepath.Join(sessions, "out"))
		_, err := OpenDir(db.Rights{}, boundary, filepath.Join(elsewhere, "p", ".ocr", "sessions", "out"))
		if !errors.Is(err, ErrOutside) {
			t.Errorf("error %v", err)
		}
	})
	for name, prepare := range map[string]func(t *testing.T, sessions, elsewhere string){
		"SessionLinkOut": func(t *testing.T, sessions, elsewhere string) {
			link(t, elsewhere, filepath.Join(sessions, "s"))
		},
		"SessionLinkToData": func(t *testing.T, sessions, elsewhere string) {
			makeAll(t, filepath.Join(sessions, "..", "data"))
			link(t, "../data", filepath.Join(sessions, "s"))
		},
		"SessionsLinkOut": func(t *testing.T, sessions, elsewhere string) {
			if err := os.Remove(sessions); err != nil {
				t.Fatal(err)
			}
			link(t, elsewhere, sessions)
		},
	} {
		t.Run(name, func(t *testing.T) {
			boundary, sessions, elsewhere := project(t)
			prepare(t, sessions, elsewhere)
			before := snapshot(t, filepath.Dir(elsewhere))
			if _, err := OpenDir(db.Rights{}, boundary, filepath.Join(sessions, "s", "new")); !errors.Is(err, ErrOutside) {
				t.Errorf("error %v", err)
			}
			wantSnapshot(t, filepath.Dir(elsewhere), before)
		})
	}
	t.Run("FileOnTheWay", func(t *testing.T) {
		boundary, sessions, elsewhere := project(t)
		put(t, filepath.Join(sessions, "s"), "a file")
		put(t, filepath.Join(elsewhere, "f"), "a file")
		before := snapshot(t, filepath.Dir(elsewhere))
		for _, dir := range []string{filepath.Join(sessions, "s"), filepath.Join(sessions, "s", "t"), filepath.Join(elsewhere, "f", "t")} {
			if _, err := OpenDir(db.Rights{}, boundary, dir); !errors.Is(err, syscall.ENOTDIR) {
				t.Errorf("%s: error %v", dir, err)
			}
		}
		wantSnapshot(t, filepath.Dir(elsewhere), before)
	})
}

func TestListing(t *testing.T) {
	asJSON := func(t *testing.T, dir string) string {
		t.Helper()
		in, err := Listing(dir)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Run("Missing", func(t *testing.T) {
		if got := asJSON(t, filepath.Join(t.TempDir(), "none")); got != `{"rounds":[],"map_runs":[]}` {
			t.Error(got)
		}
	})
	t.Run("FileInPlace", func(t *testing.T) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "rounds"), "a file")
		put(t, filepath.Join(dir, "map"), "a file")
		if got := asJSON(t, dir); got != `{"rounds":[],"map_runs":[]}` {
			t.Error(got)
		}
	})
	t.Run("Full", func(t *testing.T) {
		dir := t.TempDir()
		for _, rel := range []string{RoundFinal(10), RoundMeta(2), RoundDiscourse(2), Review(2, "b", 1), Review(2, "a", 12),
			"rounds/round-2/reviews/notes.txt", "rounds/round-2/reviews/.hidden.md", "rounds/round-2/.round-meta.json.X.new",
			"rounds/round-0/final.md", "rounds/round-02/final.md", "rounds/round-x/final.md", "rounds/round--1/final.md",
			"rounds/round-99999999999999999999/final.md", MapFinal(1), "map/runs/run-1/topology.md", MapMeta(3)} {
			put(t, filepath.Join(dir, rel), "x")
		}
		put(t, filepath.Join(dir, "rounds", "round-7"), "a file")
		makeAll(t, filepath.Join(dir, RoundFinal(2)), filepath.Join(dir, Review(2, "folder", 1)))
		at := func(rel string) string { return `"` + filepath.Join(dir, rel) + `"` }
		want := `{"rounds":[{"round":2,"final_md":null,"discourse_md":` + at(RoundDiscourse(2)) + `,"round_meta":` + at(RoundMeta(2)) +
			`,"reviewers":["a-12","b-1"]},{"round":10,"final_md":` + at(RoundFinal(10)) + `,"discourse_md":null,"round_meta":null,"reviewers":[]}],` +
			`"map_runs":[{"run":1,"map_md":` + at(MapFinal(1)) + `,"map_meta":null},{"run":3,"map_md":null,"map_meta":` + at(MapMeta(3)) + `}]}`
		if got := asJSON(t, dir); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	makeAll(t, filepath.Join(dir, "folder"))
	if got, err := Read(dir, "file"); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	for _, rel := range []string{"none", "folder", "file/none"} {
		if _, err := Read(dir, rel); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", rel, err)
		}
	}
	put(t, filepath.Join(dir, "large"), string(bytes.Repeat([]byte(" "), MaxPayload+5)))
	data, err := Read(dir, "large")
	if err != nil || len(data) != MaxPayload+1 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	wantProblems(t, parseRound(data), "$")
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		RoundMeta(3):              "rounds/round-3/round-meta.json",
		RoundFinal(3):             "rounds/round-3/final.md",
		RoundDiscourse(3):         "rounds/round-3/discourse.md",
		Review(3, "architect", 2): "rounds/round-3/reviews/architect-2.md",
		MapMeta(2):                "map/runs/run-2/map-meta.json",
		MapFinal(2):               "map/runs/run-2/map.md",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
