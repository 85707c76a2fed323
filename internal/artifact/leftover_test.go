package artifact

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestLeftover: replacing a file takes away what dead programs left as its new
// content, and nothing else.
func TestLeftover(t *testing.T) {
	boundary, sessions, _ := project(t)
	dir := filepath.Join(sessions, "s")
	age := func(rel string) string {
		put(t, filepath.Join(dir, rel), "{}")
		old := time.Now().Add(-2 * LeftAfter)
		if err := os.Chtimes(filepath.Join(dir, rel), old, old); err != nil {
			t.Fatal(err)
		}
		return rel
	}
	gone := age(hiddenName("f.json", newContent))
	stays := []string{age(hiddenName("f.json", oldContent)), age(hiddenName("g.json", newContent)), age(".f.json.new")}
	young := hiddenName("f.json", newContent)
	put(t, filepath.Join(dir, young), "{}")
	stays = append(stays, young, "f.json")

	r, err := openDir(t, boundary, dir).Replace("f.json", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Keep(); err != nil {
		t.Fatal(err)
	}
	var found []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	slices.Sort(stays)
	if !slices.Equal(found, stays) || !IsLeftover(gone) || IsLeftover(".f.json.new") {
		t.Errorf("found %q, want %q", found, stays)
	}
}
