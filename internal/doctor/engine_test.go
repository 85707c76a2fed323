package doctor

import (
	"os"
	"slices"
	"testing"

	"ocr/db"
)

// TestEngineOnly needs no project, and leaves nothing behind.
func TestEngineOnly(t *testing.T) {
	run := func(t *testing.T, dir string, write bool) map[string]Check {
		t.Helper()
		report, err := Run(t.Context(), Request{Start: dir, Getenv: os.Getenv, EngineOnly: true, ProbeWrite: write})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]Check{}
		for _, c := range report.Checks {
			if c.Group != "engine" {
				t.Errorf("looked at %s", c.ID)
			}
			found[c.ID] = c
		}
		return found
	}
	t.Run("OK", func(t *testing.T) {
		dir := t.TempDir()
		for id, c := range run(t, dir, true) {
			if c.Status != OK {
				t.Errorf("%s: %+v", id, c)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	t.Run("InMemory", func(t *testing.T) {
		for id, c := range run(t, t.TempDir(), false) {
			if want := map[bool]Status{true: Skip, false: OK}[id == "engine.write"]; c.Status != want {
				t.Errorf("%s: %+v, want %s", id, c, want)
			}
		}
	})
	t.Run("NoFolder", func(t *testing.T) {
		for id, c := range run(t, t.TempDir()+"/none", true) {
			if want := map[bool]Status{true: Fail, false: OK}[id == "engine.write"]; c.Status != want {
				t.Errorf("%s: %+v, want %s", id, c, want)
			}
		}
	})
}

// TestEngineChecks damages one fact at a time: exactly its check must see it.
func TestEngineChecks(t *testing.T) {
	sound, err := db.Probe(t.Context(), t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		damage func(p *db.ProbeResult)
		id     string
		status Status
	}{
		"Sound":         {func(p *db.ProbeResult) {}, "", OK},
		"OldEngine":     {func(p *db.ProbeResult) { p.SQLite = "3.37.2" }, "engine.version", Fail},
		"VeryOldEngine": {func(p *db.ProbeResult) { p.SQLite = "3.9" }, "engine.version", Fail},
		"OddVersion":    {func(p *db.ProbeResult) { p.SQLite = "trunk" }, "engine.version", Unknown},
		"NoTriggers":    {func(p *db.ProbeResult) { p.CompileOptions = append(p.CompileOptions, "OMIT_TRIGGER") }, "engine.options", Fail},
		"OneThread":     {func(p *db.ProbeResult) { p.CompileOptions = []string{"THREADSAFE=0"} }, "engine.options", Fail},
		"NoOptions":     {func(p *db.ProbeResult) { p.CompileOptions = nil }, "engine.options", Unknown},
		"NoForeignKeys": {func(p *db.ProbeResult) { p.Settings.ForeignKeys = false }, "engine.settings", Fail},
		"NoBusyTimeout": {func(p *db.ProbeResult) { p.Settings.BusyTimeout = 0 }, "engine.settings", Fail},
		"Unsafe":        {func(p *db.ProbeResult) { p.Settings.Synchronous = 0 }, "engine.settings", Fail},
		"NoWAL":         {func(p *db.ProbeResult) { p.Settings.JournalMode = "delete" }, "engine.write", Fail},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			probe := sound
			probe.CompileOptions = slices.Clone(sound.CompileOptions)
			c.damage(&probe)
			x := &exam{Request: Request{ProbeWrite: true}, engine: &probe}
			for _, s := range specs() {
				if s.group() != "engine" {
					continue
				}
				r := s.run(t.Context(), x)
				want := OK
				if s.id == c.id {
					want = c.status
				}
				if r.status != want || (want != OK) != (r.next != "") {
					t.Errorf("%s: %+v, want status %s", s.id, r, want)
				}
			}
		})
	}
}
