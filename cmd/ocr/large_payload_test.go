package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargePayload records a payload of 25.5 MB that would be larger than a payload
// may be once it is indented, or its characters escaped: the same verb, given it
// again, and the doctor can read what was recorded.
func TestLargePayload(t *testing.T) {
	t.Parallel()
	dir := aProject(t, t.TempDir())
	mustCall(t, dir, "state", "begin", "--session-id", "large", "--branch", "b", "--workflow-type", "review")
	database := filepath.Join(dir, ".ocr", "data", "ocr.db")
	pool := openFile(t, database)
	execute(t, pool, "UPDATE sessions SET current_phase = 'synthesis' WHERE id = 'large'")
	must(t, pool.Close())
	must(t, os.WriteFile(filepath.Join(dir, "large.json"), []byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[],"notes":[`+
		strings.Repeat(`"<<<<<<",`, 25_500_000/9)+`0]}`), 0o644))
	record := []string{"state", "complete-round", "--session-id", "large", "--file", "large.json"}
	mustCall(t, dir, record...)
	if again := mustCall(t, dir, record...); strings.Contains(again.stderr, "differs") {
		t.Error(again.stderr)
	}
	if deep := call(dir, "doctor", "--deep"); strings.Contains(deep.stdout, "round-meta.json") || strings.Contains(deep.stdout, "larger than") {
		t.Error(deep.stdout)
	}
}
