package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// moved is what every verb that moves a session prints under --json.
type moved struct {
	SessionDir     string   `json:"session_dir"`
	ArtifactDir    string   `json:"artifact_dir"`
	NextAction     string   `json:"next_action"`
	NextActionKind string   `json:"next_action_kind"`
	NextArgv       []string `json:"next_argv"`
}

// TestDrivenByNextArgv plays a whole round and a whole map run by nothing but
// the command that each answer names.
func TestDrivenByNextArgv(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a $project")
	aProject(t, dir)
	for workflow, payload := range map[string]string{
		"review": `{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`,
		"map":    `{"schema_version":1,"sections":[]}`,
	} {
		id := "a " + workflow
		kinds, calls := []string{}, 0
		argv := []string{"ocr", "state", "begin", "--session-id", id, "--branch", "b", "--workflow-type", workflow}
		for len(argv) > 0 {
			if calls++; calls > 14 {
				t.Fatalf("%s: more than 14 calls: %v", workflow, kinds)
			}
			got := callWith(dir, payload, append(argv[1:], "--json")...)
			if got.code != exitOK {
				t.Fatalf("%q ended with %d: %s", argv, got.code, got.stderr)
			}
			var next moved
			must(t, json.Unmarshal([]byte(got.stdout), &next))
			part := "rounds/round-1"
			if workflow == "map" {
				part = "map/runs/run-1"
			}
			if !filepath.IsAbs(next.SessionDir) || next.ArtifactDir != filepath.Join(next.SessionDir, filepath.FromSlash(part)) {
				t.Errorf("%q: folders %q, %q", argv, next.SessionDir, next.ArtifactDir)
			}
			if len(next.NextArgv) > 0 && !strings.Contains(next.NextAction, "ocr state "+next.NextArgv[2]) {
				t.Errorf("%q: the words %q are not the command %q", argv, next.NextAction, next.NextArgv)
			}
			kinds, argv = append(kinds, next.NextActionKind), next.NextArgv
		}
		if tail := kinds[len(kinds)-3:]; !slices.Equal(tail, []string{"complete_round", "finish", "none"}) {
			t.Errorf("%s: kinds %v", workflow, kinds)
		}
	}
}
