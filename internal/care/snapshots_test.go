package care_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ocr/internal/care"
)

// TestPruneSnapshots: the list stands in the order of age, newest first; what
// is no snapshot is never touched.
func TestPruneSnapshots(t *testing.T) {
	const (
		newest = "ocr.db.bak.vacuum.2026-03-05T10-00-00-000Z" // empty
		second = "ocr.db.bak.v14.2026-03-04T10-00-00-000Z"    // noise
		third  = "ocr.db.bak.prune.2026-03-03T10-00-00-500Z"  // good
		fourth = "ocr.db.bak.doctor.2026-03-03T10-00-00-499Z" // good
		last   = "ocr.db.bak.v13"                             // good, by its time
	)
	others := []string{"ocr.db.bak.mine", "ocr.db.bak.v14.notes", "ocr.db.bak.vacuum", "ocr.db.bak.v", "ocr.db.bak.prune.2026-03-03T10-00-00-000Z-wal", "other.db.bak.v3"}
	cases := map[string]struct {
		opt     care.PruneSnapshotsOptions
		removed []string
		spared  string
	}{
		"Default": {care.PruneSnapshotsOptions{Keep: 1}, []string{second, fourth, last}, third},
		"Keep2":   {care.PruneSnapshotsOptions{Keep: 2}, []string{fourth, last}, third},
		"Keep3":   {care.PruneSnapshotsOptions{Keep: 3}, []string{fourth, last}, ""},
		"Keep9":   {care.PruneSnapshotsOptions{Keep: 9}, nil, ""},
		"Force":   {care.PruneSnapshotsOptions{Keep: 1, Force: true}, []string{second, third, fourth, last}, ""},
		"Forced0": {care.PruneSnapshotsOptions{Keep: 0, Force: true}, []string{newest, second, third, fourth, last}, ""},
		"DryRun0": {care.PruneSnapshotsOptions{Keep: 0, DryRun: true}, []string{newest, second, fourth, last}, third},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			good, err := os.ReadFile(d.Project.Database())
			must(t, err)
			for file, content := range map[string][]byte{newest: nil, second: []byte("noise"), third: good, fourth: good, last: good} {
				must(t, os.WriteFile(filepath.Join(d.Project.Data(), file), content, 0o644))
			}
			for _, file := range others {
				must(t, os.WriteFile(filepath.Join(d.Project.Data(), file), good, 0o644))
			}
			must(t, os.Mkdir(filepath.Join(d.Project.Data(), "ocr.db.bak.v5"), 0o755))
			old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
			must(t, os.Chtimes(filepath.Join(d.Project.Data(), last), old, old))
			before := d.names()
			done, err := care.PruneSnapshots(t.Context(), d.Caller, c.opt)
			must(t, err)
			var removed []string
			for _, s := range done.Removed {
				removed = append(removed, s.Name)
			}
			if strings.Join(removed, " ") != strings.Join(c.removed, " ") || done.Spared != c.spared || len(done.Removed)+len(done.Kept) != 5 {
				t.Errorf("removed %q, spared %q", removed, done.Spared)
			}
			gone := len(c.removed)
			if c.opt.DryRun {
				gone = 0
			}
			after := d.names()
			if len(before)-len(after) != gone {
				t.Errorf("before %q, after %q", before, after)
			}
			for _, file := range others {
				if _, err := os.Stat(filepath.Join(d.Project.Data(), file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Run("KeepNone", func(t *testing.T) {
		d := newDesk(t)
		_, err := care.PruneSnapshots(t.Context(), d.Caller, care.PruneSnapshotsOptions{})
		d.wantKind(err, care.KindKeepsNone)
	})
	t.Run("None", func(t *testing.T) {
		d := newDesk(t)
		done, err := care.PruneSnapshots(t.Context(), d.Caller, care.PruneSnapshotsOptions{Keep: 1})
		if err != nil || len(done.Removed)+len(done.Kept) != 0 {
			t.Errorf("%+v %v", done, err)
		}
	})
}

func (d *desk) names() (list []string) {
	d.Helper()
	entries, err := os.ReadDir(d.Project.Data())
	must(d.T, err)
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}
