package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"ocr/internal/project"
)

// TestLogGapsHonest: what the schema refuses, skips or rolls back gives its id
// back, so that it leaves no gap.
func TestLogGapsHonest(t *testing.T) {
	p := soundProject(t)
	const insert = "INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES "
	raw(t, p.Database(),
		"BEGIN", insert+"('going', 'phase_transition', 'context', 1, 1)", "ROLLBACK",
		insert+"('done', 'round_completed', 'synthesis', 7, 1)", // skipped: the round has one
		insert+"('going', 'phase_transition', 'context', 1, 1)")
	pool, err := openRaw(p.Database())
	must(t, err)
	if _, err := pool.Exec(insert + "('going', 'no_such_event', 'context', 1, 1)"); err == nil {
		t.Error("an unknown event was stored")
	}
	must(t, pool.Close())
	raw(t, p.Database(), insert+"('going', 'phase_transition', 'context', 1, 1)")
	holdNoGap(t, p.Root)
}

// TestLogGapsLegacy: no file of older programs has one.
func TestLogGapsLegacy(t *testing.T) {
	dir := os.Getenv("LEGACY_DIR")
	if dir == "" {
		t.Skip("LEGACY_DIR names no folder of old projects")
	}
	projects, err := filepath.Glob(filepath.Join(dir, "*", project.Marker))
	must(t, err)
	if len(projects) == 0 {
		t.Fatalf("%s holds no project", dir)
	}
	for _, old := range projects {
		root := t.TempDir()
		must(t, os.CopyFS(filepath.Join(root, project.Marker), os.DirFS(old)))
		holdNoGap(t, root)
	}
}

func holdNoGap(t *testing.T, root string) {
	t.Helper()
	checks := examine(t, Request{Start: root, Getenv: environment(t), Program: thisProgram(), Only: []string{"data.log_gaps"}})
	if len(checks) != 1 || checks[0].Status != OK {
		t.Errorf("%s: %+v", root, checks)
	}
}
