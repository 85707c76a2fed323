package db

import (
	"os"
	"testing"
)

func TestProbe(t *testing.T) {
	t.Run("Write", func(t *testing.T) {
		dir := t.TempDir()
		got, err := Probe(t.Context(), dir, true)
		must(t, err)
		want := ProbeSettings{JournalMode: "wal", ForeignKeys: true, BusyTimeout: 5000, Synchronous: 1}
		if got.Settings != want || !got.Wrote || got.SQLite != SQLiteVersion() || len(got.CompileOptions) == 0 {
			t.Errorf("%+v", got)
		}
		if left := state(t, dir); left != "" {
			t.Errorf("left behind: %s", left)
		}
	})

	t.Run("Memory", func(t *testing.T) {
		t.Chdir(t.TempDir())
		got, err := Probe(t.Context(), "", false)
		must(t, err)
		if got.Wrote || got.SQLite != SQLiteVersion() || !got.Settings.ForeignKeys {
			t.Errorf("%+v", got)
		}
		if entries, err := os.ReadDir("."); err != nil || len(entries) != 0 {
			t.Errorf("%v %v", entries, err)
		}
	})

	t.Run("NoFolder", func(t *testing.T) {
		if _, err := Probe(t.Context(), t.TempDir()+"/none", true); err == nil {
			t.Error("no error")
		}
	})
}
