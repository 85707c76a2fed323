package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ocr/internal/artifact"
)

// TestPayloadHelp: the examples that help prints are taken by the verbs as they
// stand there.
func TestPayloadHelp(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	text := mustCall(t, base, "help", "payload").stdout
	_, rest, found := strings.Cut(text, "\n  {\n")
	round, rest, more := strings.Cut(rest, "\n  }\n")
	_, rest, also := strings.Cut(rest, "\n  {\n")
	run, _, last := strings.Cut(rest, "\n  }\n")
	if !found || !more || !also || !last {
		t.Fatalf("no two examples in:\n%s", text)
	}
	dir := aProject(t, base)
	for _, c := range []struct{ workflow, verb, payload string }{{"review", "complete-round", round}, {"map", "complete-map", run}} {
		mustCall(t, dir, "state", "begin", "--session-id", c.workflow, "--branch", "b", "--workflow-type", c.workflow)
		pool := openFile(t, filepath.Join(dir, ".ocr", "data", "ocr.db"))
		execute(t, pool, "UPDATE sessions SET current_phase = 'synthesis' WHERE id = '"+c.workflow+"'")
		must(t, pool.Close())
		if got := callWith(dir, "{\n"+c.payload+"\n}\n", "state", c.verb, "--session-id", c.workflow, "--stdin"); got.code != exitOK || strings.Contains(got.stderr, "warning") {
			t.Errorf("%s: %+v", c.verb, got)
		}
	}
}

// TestPrintSchema: the schema is printed where there is no project, whole, and as
// one JSON value.
func TestPrintSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for verb, schema := range map[string][]byte{"complete-round": artifact.RoundSchema, "complete-map": artifact.MapSchema} {
		if got := mustCall(t, dir, "state", verb, "--print-schema"); got.stdout != string(schema) || got.stderr != "" {
			t.Errorf("%s: %+v", verb, got)
		}
		var compact bytes.Buffer
		must(t, json.Compact(&compact, schema))
		if got := mustCall(t, dir, "state", verb, "--print-schema", "--json"); got.stdout != compact.String()+"\n" {
			t.Errorf("%s: %+v", verb, got)
		}
		if got := call(dir, "state", verb, "--print-schema", "--stdin"); got.code != exitUsage || got.stdout != "" {
			t.Errorf("%s: %+v", verb, got)
		}
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("it made %v", entries)
	}
}
