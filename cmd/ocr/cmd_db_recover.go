package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"ocr/db"
	"ocr/internal/care"
)

// recoverResult is what recover prints under --json.
type recoverResult struct {
	SchemaVersion int    `json:"schema_version"`
	Source        string `json:"source"`
	Target        string `json:"target"`
	db.Salvaged
}

func dbRecoverCommand(a *app) *command {
	fs := newFlags()
	path := pathFlag(fs, "db", "read the damaged file `PATH` instead of the project's database")
	c := &command{
		name:     "recover",
		synopsis: "save what can be read of a damaged database into a new file",
		usage:    "OUT [--db PATH] [--json]",
		long: `Reads the pages of the file by itself, with the committed part of its log, also
where the engine refuses to open it. The damaged file is only read, from a
private copy. OUT must not exist and appears whole or not at all. The report says
for each table how many rows were saved, how many of them were found in pages that
nothing led to (loose), how many could not be read (lost), how many break a rule
of their table (refused), and which row numbers stood in unreadable pages
(skipped). OUT has every view, trigger and index of its schema version, and never the
mark of an unfinished step: a note names what was made. Exit code 0 means that OUT was made: "complete" says whether anything
that is known is missing. Before putting OUT in place of anything, keep the
damaged file and its -wal, and look into OUT.`,
		example: "ocr db recover saved.db\nocr db stats --db saved.db",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant},
		flags:   fs,
		minArgs: 1,
		maxArgs: 1,
	}
	c.exec = func(ctx context.Context, args []string) error {
		if args[0] == "" {
			return c.usageError("%s needs the path of the new file", c.path)
		}
		source, err := a.databaseFile(*path)
		if err != nil {
			return err
		}
		target := a.fromDir(args[0])
		saved, err := care.Recover(ctx, source, target)
		if err != nil {
			return err
		}
		result := recoverResult{schemaVersion, source, target, saved}
		return a.print(result, result.write)
	}
	return c
}

func (r recoverResult) write(w io.Writer) {
	fmt.Fprintf(w, "made %s\n", oneLine(r.Target))
	for _, t := range r.Tables {
		fmt.Fprintf(w, "saved %8d rows  loose %d  lost %d  refused %d  %s\n", t.Saved, t.Loose, t.Lost, t.Refused, oneLine(t.Name))
		for _, s := range t.Skipped {
			fmt.Fprintf(w, "      skipped row numbers %s to %s\n", end(s.From, "the first"), end(s.To, "the last"))
		}
	}
	if r.UnplacedPages > 0 {
		fmt.Fprintf(w, "not saved: %d rows in %d pages that fit no table, or several\n", r.UnplacedRows, r.UnplacedPages)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", oneLine(note))
	}
	if r.Complete {
		fmt.Fprintln(w, "nothing that is known is missing")
		return
	}
	fmt.Fprintln(w, "not everything could be saved")
}

func end(number *int64, open string) string {
	if number == nil {
		return open
	}
	return strconv.FormatInt(*number, 10)
}
