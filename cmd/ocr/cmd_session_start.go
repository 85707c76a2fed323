package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/journal"
)

// startedProcess is what start-instance prints under --json.
type startedProcess struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
}

func startInstanceCommand(a *app) *command {
	fs := newFlags()
	var in journal.StartRequest
	workflowFlag(fs, &in.Workflow)
	fs.StringVar(&in.Vendor, "vendor", "", "`VENDOR` whose agent it is")
	fs.StringVar(&in.Persona, "persona", "", "`PERSONA` it works as")
	instance := wholeNumber(fs, "instance", 0, "number `N` among those of one persona")
	fs.StringVar(&in.Name, "name", "", "`NAME` for people; PERSONA-N if left out")
	fs.StringVar(&in.Model, "model", "", "`MODEL` it runs on")
	fs.StringVar(&in.Phase, "phase", "", "`PHASE` it works for")
	pid := wholeNumber(fs, "pid", 1, "process id `PID` of the agent, so that its death can be proved")
	fs.StringVar(&in.Note, "note", "", "`TEXT` to keep with it")
	c := &command{
		name:     "start-instance",
		synopsis: "record a process that begins work for a session",
		usage:    "--vendor VENDOR [--workflow ID] [--persona PERSONA] [--instance N] [--name NAME] [--model MODEL] [--phase PHASE] [--pid PID] [--note TEXT] [--json]",
		long: `Prints the id under which the process reports from then on. Before that it ends
the rows of processes that are provably dead. A closed session takes none: 6.`,
		example: "ocr session start-instance --workflow 2026-03-02-cart --vendor claude --persona tester --instance 1",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if err := c.require("vendor"); err != nil {
			return err
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		in.Instance, in.PID = instance.given(), pid.given()
		started, err := journal.Start(ctx, caller, in)
		if err != nil {
			return err
		}
		if !a.json {
			a.note("note: later commands of this agent know it by --as %s, or by OCR_DASHBOARD_EXECUTION_UID=%s", started.ID, started.ID)
		}
		return a.print(startedProcess{schemaVersion, started.ID}, func(w io.Writer) {
			fmt.Fprintln(w, started.ID)
		})
	}
	return c
}
