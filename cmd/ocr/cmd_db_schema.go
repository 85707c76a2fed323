package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// schemaObject is one object of what schema prints under --json: an array.
type schemaObject struct {
	Type  string `json:"type"` // table, index, trigger or view
	Name  string `json:"name"`
	Table string `json:"table"` // that an index or trigger belongs to
	SQL   string `json:"sql"`
}

func dbSchemaCommand(a *app) *command {
	fs := newFlags()
	table := fs.String("table", "", "print only the table or view `T`, with its indexes and triggers")
	c := &command{
		name:     "schema",
		synopsis: "print the schema that this program works with, as SQL",
		usage:    "[--table T] [--json]",
		long: `Every column says its meaning and unit, also where a file made by another program
says nothing. Each table comes with its indexes and triggers, then the views.
Works anywhere, without a project.`,
		example: "ocr db schema --table sessions",
		exits:   []int{exitOK, exitUsage, exitNotFound},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if given(fs, "table") && *table == "" {
			return c.usageError("--table takes the name of a table or view")
		}
		objects, err := db.WholeSchema(ctx)
		if err != nil {
			return err
		}
		list := []schemaObject{}
		for _, o := range objects {
			if *table == "" || strings.EqualFold(o.Table, *table) {
				list = append(list, schemaObject(o))
			}
		}
		if len(list) == 0 {
			return &lifecycle.Error{
				Class: lifecycle.NotFound, Kind: "no_table", Hint: "ocr db schema prints all of them",
				Message: fmt.Sprintf("the schema has no table or view %q", *table),
			}
		}
		return a.print(list, func(w io.Writer) {
			for i, o := range list {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%s;\n", o.SQL)
			}
		})
	}
	return c
}
