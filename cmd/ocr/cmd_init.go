package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/project"
)

// initResult is what init prints under --json.
type initResult struct {
	SchemaVersion int      `json:"schema_version"`
	Root          string   `json:"root"`
	Created       []string `json:"created"`
}

func initCommand(a *app) *command {
	return &command{
		name:     "init",
		synopsis: "make the working directory a project",
		usage:    "[-C DIR] [--json]",
		long: `Makes .ocr/ with sessions/, data/, skills/ and a .gitignore in .ocr/ and in data/
that keep data/ out of version control. What exists already is left as it is, so
it is safe to repeat. The database is made by the first command that writes.`,
		example: "ocr init",
		exits:   []int{exitOK, exitEnvironment, exitUsage},
		exec: func(context.Context, []string) error {
			above, aboveErr := a.project()
			created, err := project.Init(a.startDir())
			if err != nil {
				return err
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			a.callerOf(p.Database()).KeepIgnored()
			if aboveErr == nil && above != p {
				a.note("note: %s is a project too; from %s down this one is used", above.Root, p.Root)
			}
			result := initResult{schemaVersion, p.Root, append([]string{}, created...)}
			return a.print(result, func(w io.Writer) {
				if len(created) == 0 {
					fmt.Fprintf(w, "%s is a project already\n", oneLine(p.Root))
					return
				}
				fmt.Fprintf(w, "%s is a project now\n", oneLine(p.Root))
				for _, path := range created {
					fmt.Fprintf(w, "  made %s\n", path)
				}
			})
		},
	}
}
