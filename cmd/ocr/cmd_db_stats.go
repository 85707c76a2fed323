package main

import (
	"context"
	"fmt"
	"io"

	"ocr/db"
	"ocr/internal/care"
)

// statsResult is what stats prints under --json. Sizes are in bytes.
type statsResult struct {
	SchemaVersion int             `json:"schema_version"`
	Path          string          `json:"path"`
	Exists        bool            `json:"exists"`
	FileBytes     int64           `json:"file_bytes"`
	LogBytes      int64           `json:"log_bytes"`
	LiveBytes     int64           `json:"live_bytes"`
	FreeBytes     int64           `json:"free_bytes"`
	PageSize      int64           `json:"page_size"`
	Migrations    int             `json:"schema_migrations"`
	Shared        int             `json:"shared_schema"`
	Counts        statsCounts     `json:"counts"`
	Tables        []db.TableSize  `json:"tables"`
	Largest       []statsSession  `json:"largest_sessions"`
	Snapshots     []care.Snapshot `json:"snapshots"`
}

type statsCounts struct {
	ActiveSessions       int64 `json:"active_sessions"`
	ClosedSessions       int64 `json:"closed_sessions"`
	Events               int64 `json:"events"`
	Executions           int64 `json:"executions"`
	UnfinishedExecutions int64 `json:"unfinished_executions"`
	MarkdownDuplicates   int64 `json:"markdown_duplicates"`
}

type statsSession struct {
	SessionID string `json:"session_id"`
	Status    string `json:"status"`
	Events    int64  `json:"events"`
	Bytes     int64  `json:"bytes"` // of stored texts and of the metadata of events
}

func dbStatsCommand(a *app) *command {
	fs := newFlags()
	path := pathFlag(fs, "db", "count in the database file `PATH` instead of the project's")
	return &command{
		name:     "stats",
		synopsis: "tell what the bytes of the database are spent on",
		usage:    "[--db PATH] [--json]",
		long: `Prints sizes in bytes: the file, its log, what is live and what is free, every
table with its rows, the sessions that hold the most text, and the snapshots.
Reads the whole file and changes nothing. Without a database everything is 0.`,
		example: "ocr db stats",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			file, err := a.databaseFile(*path)
			if err != nil {
				return err
			}
			s, err := care.Stats(ctx, file, a.readOptions(file))
			if err != nil {
				return err
			}
			result := statsResult{
				SchemaVersion: schemaVersion, Path: file, Exists: s.Exists, FileBytes: s.FileBytes, LogBytes: s.LogBytes,
				LiveBytes: s.Sizes.LiveBytes(), FreeBytes: s.Sizes.FreeBytes(), PageSize: s.Sizes.PageSize,
				Migrations: s.Migrations, Shared: s.Shared,
				Counts: statsCounts{
					s.Counts.ActiveSessions, s.Counts.ClosedSessions, s.Counts.Events, s.Counts.Executions,
					s.Counts.UnfinishedExecutions, s.Counts.MarkdownDuplicates,
				},
				Tables: append([]db.TableSize{}, s.Sizes.Tables...), Largest: []statsSession{},
				Snapshots: append([]care.Snapshot{}, s.Snapshots...),
			}
			for _, l := range s.Largest {
				result.Largest = append(result.Largest, statsSession{l.ID, l.Status, l.Events, l.Bytes})
			}
			return a.print(result, result.write)
		},
	}
}

func (s statsResult) write(w io.Writer) {
	if !s.Exists {
		fmt.Fprintf(w, "there is no database at %s yet\n", oneLine(s.Path))
	} else {
		fmt.Fprintf(w, "%s\n", oneLine(s.Path))
		fmt.Fprintf(w, "file %d bytes, log %d; live %d, free %d (schema %d)\n", s.FileBytes, s.LogBytes, s.LiveBytes, s.FreeBytes, s.Migrations)
		fmt.Fprintf(w, "sessions %d active, %d closed; events %d; processes %d, %d of them unfinished; texts stored twice %d\n",
			s.Counts.ActiveSessions, s.Counts.ClosedSessions, s.Counts.Events, s.Counts.Executions,
			s.Counts.UnfinishedExecutions, s.Counts.MarkdownDuplicates)
	}
	for _, t := range s.Tables {
		fmt.Fprintf(w, "table %12d bytes  %12d in indexes  %10d rows  %s\n", t.Bytes, t.IndexBytes, t.Rows, oneLine(t.Name))
	}
	for _, l := range s.Largest {
		fmt.Fprintf(w, "session %10d bytes of text  %8d events  %-6s  %s\n", l.Bytes, l.Events, l.Status, oneLine(l.SessionID))
	}
	for _, c := range s.Snapshots {
		fmt.Fprintf(w, "snapshot %9d bytes  %s  %s\n", c.Bytes, c.At, oneLine(c.Name))
	}
}
