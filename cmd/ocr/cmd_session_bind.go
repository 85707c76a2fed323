package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/journal"
)

// bindResult is what bind-vendor-id prints under --json.
type bindResult struct {
	SchemaVersion   int    `json:"schema_version"`
	ID              string `json:"id"`
	VendorSessionID string `json:"vendor_session_id"`
}

func bindVendorIDCommand(a *app) *command {
	fs := newFlags()
	auto := fs.Bool("auto", false, "take the newest process of --workflow that runs and is not bound; no UID then")
	var workflow string
	idFlag(fs, &workflow, "workflow", "`ID` of the session, with --auto")
	c := &command{
		name:     "bind-vendor-id",
		synopsis: "tie a process to the session that its vendor keeps for it",
		usage:    "UID VENDOR-ID [--json] | --auto --workflow ID VENDOR-ID [--json]",
		long: `A process is bound once: the same id again is fine, another one is refused (6).
It is a sign of life too. A vendor id has letters, digits and . _ : - in it.`,
		example: "ocr session bind-vendor-id 3f0c2f9e-2a51-4c7b-9a55-0f6d5f3f8a01 ses_01AB",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
		minArgs: 1,
		maxArgs: 2,
	}
	c.exec = func(ctx context.Context, args []string) error {
		in := journal.BindRequest{Workflow: workflow, VendorID: args[len(args)-1]}
		switch {
		case *auto && (len(args) != 1 || workflow == ""):
			return c.usageError("%s --auto needs --workflow ID and the vendor id alone", c.path)
		case !*auto && workflow != "":
			return c.usageError("%s takes --workflow with --auto only", c.path)
		case !*auto && (len(args) != 2 || args[0] == ""):
			return c.usageError("%s needs UID and the vendor id", c.path)
		case !*auto:
			in.ID = args[0]
		}
		caller, err := a.caller()
		if err != nil {
			return err
		}
		id, err := journal.Bind(ctx, caller, in)
		if err != nil {
			return err
		}
		return a.print(bindResult{schemaVersion, id, in.VendorID}, func(w io.Writer) {
			fmt.Fprintf(w, "process %s is bound to %s\n", oneLine(id), in.VendorID)
		})
	}
	return c
}
