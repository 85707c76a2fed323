package artifact

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	find := func() *Found {
		t.Helper()
		found, err := Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := found.Close(); err != nil {
				t.Error(err)
			}
		})
		return found
	}
	write("notes.txt", "no")
	write(".hidden.md", "no")
	write(".git/a.md", "no")
	write("rounds/round-3/.round-meta.json.x.new", "no")
	if found := find(); !found.Empty() || !found.HasRounds || found.HasMap || !slices.Equal(found.Rounds, []int64{3}) {
		t.Errorf("%+v", found)
	}
	write("context.md", "c")
	write("rounds/round-10/reviews/a-b-1.md", "\xffr")
	write("rounds/round-10/notes/x.md", "x")
	write("rounds/round-x/y.md", "y")
	write("map/runs/run-2/map.md", "m")
	write("map/runs/run-2/map-meta.json", "{}")
	write("large.md", "")
	if err := os.Truncate(filepath.Join(dir, "large.md"), MaxPayload+1); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		outside := filepath.Join(t.TempDir(), "secret.md")
		if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
		for link, target := range map[string]string{"linked.md": outside, "rounds/round-11": filepath.Dir(outside)} {
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	found := find()
	if found.Empty() || !found.HasMap || !slices.Equal(found.Rounds, []int64{3, 10}) || !slices.Equal(found.Runs, []int64{2}) {
		t.Errorf("%+v", found)
	}
	if !found.Has(MapMeta(2)) || found.Has(MapMeta(1)) || found.Has("linked.md") {
		t.Error("files are mistaken")
	}
	texts, tooLarge, err := found.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	want := []Markdown{
		{"context.md", "context", 0, "c"},
		{"map/runs/run-2/map.md", "map", 0, "m"},
		{"rounds/round-10/notes/x.md", "x", 10, "x"},
		{"rounds/round-10/reviews/a-b-1.md", "reviewer-output", 10, "\uFFFDr"},
		{"rounds/round-x/y.md", "y", 0, "y"},
	}
	if !slices.Equal(texts, want) {
		t.Errorf("texts %+v, want %+v", texts, want)
	}
	if !slices.Equal(tooLarge, []string{"large.md"}) {
		t.Errorf("too large %v", tooLarge)
	}
	if _, err := Find(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is not there was read")
	}
}
