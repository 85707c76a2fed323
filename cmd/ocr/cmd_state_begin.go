package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"ocr/internal/lifecycle"
	"ocr/internal/project"
)

// beginResult is what begin prints under --json.
type beginResult struct {
	SchemaVersion int    `json:"schema_version"`
	SessionID     string `json:"session_id"`
	Round         int64  `json:"round"`
	MapRun        *int64 `json:"map_run,omitempty"` // maps only
	Phase         string `json:"phase"`
	Completeness  string `json:"completeness"`
	Changed       bool   `json:"changed"` // false: the same caller had begun it just so
	Branch        string `json:"branch"`  // as recorded
	outlookResult
}

func beginCommand(a *app) *command {
	fs := newFlags()
	id := fs.String("session-id", "", "name of the session: `ID`, also the name of its folder")
	branch := fs.String("branch", "", "git `BRANCH` that is looked at")
	workflow := oneOf(fs, "workflow-type", "", "`TYPE` of workflow: review or map", "review", "map")
	dir := pathFlag(fs, "session-dir", "`DIR` for its files instead of .ocr/sessions/ID")
	uid := fs.String("dashboard-uid", "", "`UID` of the process row to tie to the session")
	c := &command{
		name:     "begin",
		synopsis: "start a session, or open one again",
		usage:    "--session-id ID --branch BRANCH --workflow-type review|map [--session-dir DIR] [--dashboard-uid UID] [--json]",
		long: `A new session starts in the first phase of its workflow. A session that is
closed or complete is opened again, in the next round (map: run) if its current
one is complete. Where another program closed it in the middle of its work because
of its files, it goes on in the phase it had. Its branch stays. A session in the
middle of its work is never started over: 6. A caller with a process row of its own
may repeat the command while nothing else has happened; it says "changed": false then.`,
		example: "ocr state begin --session-id 2026-03-02-cart --branch feat/cart --workflow-type review --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitInvariant, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if err := c.require("session-id", "branch", "workflow-type"); err != nil {
			return err
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		a.noteProjectAbove(caller.Project)
		begun, err := lifecycle.Begin(ctx, caller, lifecycle.BeginRequest{
			SessionID: *id, Branch: *branch, Workflow: workflow.Value, Dir: a.fromDir(*dir), DashboardUID: *uid,
		})
		if err != nil {
			return err
		}
		result := beginResult{
			SchemaVersion: schemaVersion, SessionID: begun.SessionID, Round: begun.Round,
			Phase: begun.Phase, Completeness: begun.Completeness, Branch: begun.Branch, Changed: begun.Changed,
			outlookResult: outlookJSON(begun.Outlook),
		}
		if begun.Workflow == "map" {
			result.MapRun = &begun.MapRun
		}
		return a.print(result, func(w io.Writer) {
			fmt.Fprintf(w, "session %s: %s, phase %s\n", oneLine(begun.SessionID), counted(begun.Workflow, begun.Round, begun.MapRun), begun.Phase)
			outlookText(w, begun.Outlook)
		})
	}
	return c
}

// noteProjectAbove says which project is used where that is not the folder the
// caller started from: a project further up may not be the one that is meant.
func (a *app) noteProjectAbove(p project.Project) {
	start, err := filepath.Abs(a.startDir())
	if err == nil {
		start, err = filepath.EvalSymlinks(start)
	}
	if err == nil && start != p.Root {
		a.note("note: using the project %s, the nearest one above %s", p.Root, start)
	}
}

// counted names the round of a review or the run of a map.
func counted(workflow string, round, run int64) string {
	if workflow == "map" {
		return fmt.Sprintf("map run %d", run)
	}
	return fmt.Sprintf("review round %d", round)
}
