package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/lifecycle"
)

// syncResult is what sync prints under --json.
type syncResult struct {
	SchemaVersion int             `json:"schema_version"`
	Sessions      []syncedSession `json:"sessions"`
	Skipped       []skippedFolder `json:"skipped"`
	Processes     int64           `json:"processes_restored"`
	BadLines      int             `json:"bad_log_lines"`
	Kept          []keptRow       `json:"kept"`
}

// syncedSession is one session that was found on disk only.
type syncedSession struct {
	SessionID    string `json:"session_id"`
	WorkflowType string `json:"workflow_type"`
	Round        int64  `json:"round"`
	MapRun       *int64 `json:"map_run,omitempty"` // maps only
	Phase        string `json:"phase"`
	Texts        int    `json:"texts"` // markdown files that were stored
}

// skippedFolder is a folder that was passed over.
type skippedFolder struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func syncCommand(a *app) *command {
	return &command{
		name:     "sync",
		synopsis: "take in the sessions that are on disk only",
		usage:    "[--json]",
		long: `Each folder below .ocr/sessions that has no row and holds a .md or .json file
becomes a closed session, in the round or run and the phase that its files tell;
its payloads and texts are stored. Sessions that have a row are left alone. What
cannot be read, and an id that the log knows without a row, is passed over with a
warning. Where no process is known, ended ones come back from the recovery log.
Makes a missing database.`,
		example: "ocr state sync",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitBusy},
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			got, err := lifecycle.Sync(ctx, caller)
			if err != nil {
				return err
			}
			result := syncResult{SchemaVersion: schemaVersion, Sessions: []syncedSession{}, Skipped: []skippedFolder{}, Processes: got.Processes, BadLines: got.BadLines, Kept: keptJSON(got.Kept)}
			for _, s := range got.Sessions {
				session := syncedSession{SessionID: s.SessionID, WorkflowType: s.Workflow, Round: s.Round, Phase: s.Phase, Texts: s.Texts}
				if s.Workflow == "map" {
					session.MapRun = &s.MapRun
				}
				result.Sessions = append(result.Sessions, session)
			}
			for _, f := range got.Skipped {
				result.Skipped = append(result.Skipped, skippedFolder{f.Name, f.Reason})
			}
			return a.print(result, func(w io.Writer) {
				for _, s := range got.Sessions {
					fmt.Fprintf(w, "session %s: %s, phase %s, %d texts\n", oneLine(s.SessionID), counted(s.Workflow, s.Round, s.MapRun), s.Phase, s.Texts)
				}
				if got.Processes > 0 {
					fmt.Fprintf(w, "%d processes came back from the recovery log\n", got.Processes)
				}
				if len(got.Sessions) == 0 && got.Processes == 0 {
					fmt.Fprintln(w, "nothing to take in")
				}
			})
		},
	}
}
