package db

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSnapshots lists what is a snapshot by its name, newest first.
func TestSnapshots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ocr.db")
	for _, end := range []string{
		"v9", "v12.2026-03-02T10-00-00-000Z", "doctor.2026-03-02T11-00-00-000Z", "doctor", "mine.2026-03-02T12-00-00-000Z", "v9.old", "vain.2026-03-02T09-00-00-000Z",
		"v9-wal", "v9-shm", "v9-journal", "v9.partial", "v9.tmp",
	} {
		write(t, path+".bak."+end, "x")
	}
	write(t, path+"x.bak.v9", "another database")
	must(t, os.Mkdir(path+".bak.v8", 0o755))
	list, err := Snapshots(path)
	must(t, err)
	routine := map[string]bool{"v9": true, "v12": true, "doctor": false, "mine": false, "v9.old": false, "vain": false}
	var stamped []string
	for _, s := range list {
		want := routine[s.Label] || s.Label == LabelDoctor && s.Stamped
		if s.Routine() != want || s.Bytes != 1 {
			t.Errorf("%+v: routine %v", s, s.Routine())
		}
		if s.Stamped {
			stamped = append(stamped, s.Label)
		}
	}
	if len(list) != 7 {
		t.Errorf("%d snapshots: %+v", len(list), list)
	}
	if want := []string{"mine", "doctor", "v12", "vain"}; !slices.Equal(stamped, want) {
		t.Errorf("order %v, want %v", stamped, want)
	}
}
