package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/journal"
)

// journaledProcess is one process of what list prints under --json. The keys
// up to notes are shared with other programs.
type journaledProcess struct {
	ID              string  `json:"id"`
	WorkflowID      string  `json:"workflow_id"`
	Vendor          string  `json:"vendor"`
	VendorSessionID *string `json:"vendor_session_id"`
	Persona         *string `json:"persona"`
	InstanceIndex   *int64  `json:"instance_index"`
	Name            *string `json:"name"`
	ResolvedModel   *string `json:"resolved_model"`
	Phase           *string `json:"phase"`
	Status          string  `json:"status"`
	Kind            string  `json:"kind"`
	PID             *int64  `json:"pid"`
	StartedAt       string  `json:"started_at"`
	LastHeartbeatAt *string `json:"last_heartbeat_at"`
	EndedAt         *string `json:"ended_at"`
	ExitCode        *int64  `json:"exit_code"`
	Notes           *string `json:"notes"`

	Stalled      bool   `json:"stalled"`
	HeartbeatAge *int64 `json:"heartbeat_age_seconds"` // null where the heartbeat is no time
	// Of a process that has ended the rest is null.
	Liveness *string `json:"liveness"` // alive, dead, unknown
	Provable *bool   `json:"provable"` // true: by a look at the process, false: by its heartbeat alone
	Reason   *string `json:"liveness_reason"`
}

func listProcessesCommand(a *app) *command {
	fs := newFlags()
	var in journal.ListRequest
	workflowFlag(fs, &in.Workflow)
	fs.BoolVar(&in.All, "all", false, "list those of every session")
	c := &command{
		name:     "list",
		synopsis: "list the processes of a session, oldest first",
		usage:    "[--workflow ID | --all] [--json]",
		long: `Alive is a process that is proved to live, or whose last heartbeat is young; dead
one that is proved dead; unknown any other, with the reason. One whose last heartbeat
is old is stalled, which says nothing about its death. Changes nothing.`,
		example: "ocr session list --workflow 2026-03-02-cart --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if in.All && in.Workflow != "" {
			return c.usageError("%s takes --workflow or --all, not both", c.path)
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		rows, err := journal.List(ctx, caller, in)
		if err != nil {
			return err
		}
		result := make([]journaledProcess, 0, len(rows))
		for _, row := range rows {
			result = append(result, processJSON(row))
		}
		return a.print(result, func(w io.Writer) {
			for _, p := range result {
				processText(w, p)
			}
		})
	}
	return c
}

func processJSON(row journal.Listed) journaledProcess {
	p := journaledProcess{
		ID: row.ID, WorkflowID: row.WorkflowID, Vendor: row.Vendor, VendorSessionID: row.VendorSessionID,
		Persona: row.Persona, InstanceIndex: row.InstanceIndex, Name: row.Name, ResolvedModel: row.ResolvedModel,
		Phase: row.Phase, Status: row.Status, Kind: row.Kind, PID: row.PID,
		StartedAt: row.StartedAt, LastHeartbeatAt: row.LastHeartbeatAt, EndedAt: row.EndedAt,
		ExitCode: row.ExitCode, Notes: row.Notes,
	}
	if row.Verdict != nil {
		p.Stalled, p.HeartbeatAge = row.Verdict.Stalled, row.Verdict.HeartbeatAge
		p.Liveness, p.Provable = &row.Verdict.State, &row.Verdict.Proved
		if row.Verdict.Reason != "" {
			p.Reason = &row.Verdict.Reason
		}
	}
	return p
}

func processText(w io.Writer, p journaledProcess) {
	state := p.Status
	if p.Liveness != nil {
		state += ", " + *p.Liveness
	}
	if p.Stalled {
		state += fmt.Sprintf(", stalled: last heartbeat %d s ago", *p.HeartbeatAge)
	}
	if p.Reason != nil {
		state += ", " + *p.Reason
	}
	fmt.Fprintf(w, "%s  %s  %-10s  %-20s  %-20s  %s\n", oneLine(p.StartedAt), oneLine(p.ID), p.Kind,
		oneLine(optional(p.Name)), oneLine(p.WorkflowID), oneLine(state))
}
