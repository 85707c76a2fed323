package main

import (
	"context"
	"encoding/json"

	"ocr/internal/care"
)

func dbExportCommand(a *app) *command {
	fs := newFlags()
	session := fs.String("session-id", "", "`ID` of the session; all if left out")
	path := pathFlag(fs, "db", "export the database file `PATH` instead of the project's")
	format := oneOf(fs, "format", "json", "`FORMAT`: json, ndjson or markdown", "json", "ndjson", "markdown")
	c := &command{
		name:     "export",
		synopsis: "print what the database holds, for programs or for people",
		usage:    "[--session-id ID] [--format json|ndjson|markdown] [--db PATH]",
		long: `json is one object: its "tables" hold the rows as they are stored, a blob as
x'...'. ndjson is one object a line, {"table":...,"row":{...}}. markdown is a
report for people on each session, without the stored texts of its files. With a
session, only rows that belong to it are printed. Changes nothing.`,
		example: "ocr db export --format ndjson\nocr db export --session-id 2026-03-02-cart --format markdown",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		switch {
		case a.json && format.Value != "json":
			return c.usageError("%s prints --json or --format %s, not both", c.path, format.Value)
		case given(fs, "session-id") && *session == "":
			return c.usageError("--session-id takes the id of a session; leave the flag out for all of them")
		}
		file, err := a.databaseFile(*path)
		if err != nil {
			return err
		}
		return a.spool(func(out *spool) error {
			switch format.Value {
			case "markdown":
				return care.ExportSessions(ctx, file, a.readOptions(file), *session, out.restart, func(id string, content care.Content) error {
					writeSessionReport(out, id, content)
					return nil
				})
			case "ndjson":
				return care.Export(ctx, file, a.readOptions(file), *session, &lineSink{rowSink{out: out}})
			}
			sink := &documentSink{rowSink{out: out}}
			if err := care.Export(ctx, file, a.readOptions(file), *session, sink); err != nil {
				return err
			}
			sink.end()
			return nil
		})
	}
	return c
}

// rowSink is what the two sinks of JSON have in common.
type rowSink struct {
	out *spool
	// name and columns are those of the table whose rows come.
	name    string
	columns []string
	tables  int
	rows    int
}

func (s *rowSink) Begin() error {
	s.tables, s.rows = 0, 0
	return s.out.restart()
}

func (s *rowSink) Table(name string, columns []string) error {
	s.name, s.columns, s.rows = name, columns, 0
	s.tables++
	return nil
}

// lineSink writes one object a line.
type lineSink struct{ rowSink }

func (s *lineSink) Row(values []any) error {
	row, err := object(s.columns, values)
	if err != nil {
		return err
	}
	line, err := encode(struct {
		Table string          `json:"table"`
		Row   json.RawMessage `json:"row"`
	}{s.name, row})
	if err != nil {
		return err
	}
	_, err = s.out.Write(line)
	return err
}

// documentSink writes one object, piece by piece.
type documentSink struct{ rowSink }

func (s *documentSink) Begin() error {
	err := s.rowSink.Begin()
	s.out.WriteString(`{"schema_version":1,"tables":{`)
	return err
}

func (s *documentSink) Table(name string, columns []string) error {
	if s.tables > 0 {
		s.out.WriteString("],")
	}
	key, err := encode(name)
	if err != nil {
		return err
	}
	s.out.Write(key[:len(key)-1])
	s.out.WriteString(":[")
	return s.rowSink.Table(name, columns)
}

func (s *documentSink) Row(values []any) error {
	if s.rows > 0 {
		s.out.WriteByte(',')
	}
	s.rows++
	row, err := object(s.columns, values)
	if err != nil {
		return err
	}
	line, err := encode(row)
	if err != nil {
		return err
	}
	_, err = s.out.Write(line[:len(line)-1])
	return err
}

// end closes the object. What could not be written shows at the flush.
func (s *documentSink) end() {
	if s.tables > 0 {
		s.out.WriteByte(']')
	}
	s.out.WriteString("}}\n")
}
