package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/journal"
)

// latestResult is what latest-vendor prints under --json.
type latestResult struct {
	SchemaVersion int `json:"schema_version"`
	journaledProcess
}

func latestVendorCommand(a *app) *command {
	fs := newFlags()
	var workflow string
	workflowFlag(fs, &workflow)
	return &command{
		name:     "latest-vendor",
		synopsis: "print the newest process that is bound to a vendor's session",
		usage:    "[--workflow ID] [--json]",
		long:     "Prints the vendor, the vendor's id and the id of the process. Changes nothing.",
		example:  "ocr session latest-vendor --workflow 2026-03-02-cart",
		exits:    []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitBusy},
		flags:    fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			row, err := journal.Latest(ctx, caller, workflow)
			if err != nil {
				return err
			}
			p := processJSON(row)
			return a.print(latestResult{schemaVersion, p}, func(w io.Writer) {
				fmt.Fprintf(w, "%s  %s  %s\n", oneLine(p.Vendor), oneLine(optional(p.VendorSessionID)), oneLine(p.ID))
			})
		},
	}
}
