package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/project"
	"ocr/internal/shell"
)

// rehearsalResult is what migrate --dry-run prints under --json.
type rehearsalResult struct {
	SchemaVersion     int             `json:"schema_version"`
	DryRun            bool            `json:"dry_run"`
	Path              string          `json:"path"`
	From              int             `json:"from"` // versions of the database schema
	To                int             `json:"to"`
	WouldSucceed      bool            `json:"would_succeed"`
	Failures          []string        `json:"failures"` // why not
	Restored          []string        `json:"restored"`
	Steps             []rehearsedStep `json:"steps"`
	Tables            []tableCount    `json:"tables"`
	IntegrityBefore   []string        `json:"integrity_before"` // findings; none when sound
	IntegrityAfter    []string        `json:"integrity_after"`
	ForeignKeysBefore []orphanRows    `json:"foreign_keys_before"`
	ForeignKeysAfter  []orphanRows    `json:"foreign_keys_after"`
	Reconcile         reconcilePlan   `json:"reconcile"`
	Notes             []string        `json:"notes"`
	CopyBytes         int64           `json:"copy_bytes"` // of the private copy
	DurationMS        float64         `json:"duration_ms"`
	Error             *failure        `json:"error,omitempty"`
}

type rehearsedStep struct {
	Version    int          `json:"version"`
	Name       string       `json:"name"`
	Outcome    string       `json:"outcome"` // ok, failed, or not_tried behind one that failed
	DurationMS float64      `json:"duration_ms"`
	Rows       []rowChanges `json:"rows"`
	Added      []string     `json:"added"`
	Changed    []string     `json:"changed"`
	Dropped    []string     `json:"dropped"`
	SQL        string       `json:"sql,omitempty"` // with --show-sql
}

type rowChanges struct {
	Table    string `json:"table"`
	Inserted int64  `json:"inserted"`
	Updated  int64  `json:"updated"`
	Deleted  int64  `json:"deleted"`
}

// tableCount is the number of rows of a table, null where there is none.
type tableCount struct {
	Table  string `json:"table"`
	Before *int64 `json:"rows_before"`
	After  *int64 `json:"rows_after"`
}

// reconcilePlan is the repair of sessions that comes with the upgrade.
type reconcilePlan struct {
	Actions    []reconciledSession `json:"actions"`
	Unreadable []unreadableTime    `json:"unreadable"`
}

// rehearse tries the upgrade of the file at path, or of the project's, on a
// private copy. projectDir leads to the project that the file belongs to; empty
// goes by the place of the file.
func (a *app) rehearse(ctx context.Context, path, projectDir string, to int, showSQL bool) error {
	var of project.Project
	var err error
	if projectDir != "" {
		if of, err = project.Find(a.fromDir(projectDir)); err != nil {
			return err
		}
		if path == "" {
			path = of.Database()
		}
	}
	file, err := a.databaseFile(path)
	if err != nil {
		return err
	}
	caller := a.callerOf(file)
	if projectDir != "" {
		caller.Project = of
	}
	begun := time.Now()
	r, plan, err := lifecycle.RehearseUpgrade(ctx, caller, file, to)
	if err != nil {
		return err
	}
	result := rehearsalResult{
		SchemaVersion: schemaVersion, DryRun: true, Path: file, From: r.From, To: r.To,
		WouldSucceed: len(r.Failures) == 0, Failures: append([]string{}, r.Failures...), Restored: append([]string{}, r.Restored...),
		Steps: []rehearsedStep{}, Tables: []tableCount{},
		IntegrityBefore: append([]string{}, r.IntegrityBefore...), IntegrityAfter: append([]string{}, r.IntegrityAfter...),
		ForeignKeysBefore: orphans(r.OrphansBefore), ForeignKeysAfter: orphans(r.OrphansAfter),
		Reconcile: reconcilePlan{[]reconciledSession{}, []unreadableTime{}},
		Notes:     append([]string{}, r.Notes...), CopyBytes: r.Bytes, DurationMS: milliseconds(time.Since(begun)),
	}
	for _, step := range r.Steps {
		result.Steps = append(result.Steps, stepResult(step, showSQL))
	}
	for _, table := range r.Tables {
		result.Tables = append(result.Tables, tableCount(table))
	}
	for _, action := range plan.Actions {
		result.Reconcile.Actions = append(result.Reconcile.Actions, reconciledSession{action.SessionID, action.Kind, action.Detail})
	}
	for _, session := range plan.Unreadable {
		result.Reconcile.Unreadable = append(result.Reconcile.Unreadable, unreadableTime{session.SessionID, session.LastAt})
	}
	if result.WouldSucceed {
		return a.print(result, result.write)
	}
	f := failure{
		Code: exitEnvironment, Kind: "would_fail", Message: "the upgrade would fail: " + strings.Join(r.Failures, "; "),
		Hint: "keep the file as it is and report what failed; nothing was changed",
	}
	if len(r.IntegrityBefore) > 0 {
		f.Hint = "ocr db recover saved.db --db " + shell.Quote(file)
	}
	result.Error = &f
	if err := a.print(result, result.write); err != nil {
		return err
	}
	return a.unsound(f)
}

func stepResult(step db.RehearsedStep, showSQL bool) rehearsedStep {
	result := rehearsedStep{
		Version: step.Version, Name: step.Name, Outcome: "ok", DurationMS: milliseconds(step.Took), Rows: []rowChanges{},
		Added: append([]string{}, step.Added...), Changed: append([]string{}, step.Changed...), Dropped: append([]string{}, step.Dropped...),
	}
	switch {
	case step.Failed:
		result.Outcome = "failed"
	case !step.Tried:
		result.Outcome = "not_tried"
	}
	for _, rows := range step.Rows {
		result.Rows = append(result.Rows, rowChanges(rows))
	}
	if showSQL {
		result.SQL = step.SQL
	}
	return result
}

// milliseconds are counted to the microsecond.
func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

func (r rehearsalResult) write(w io.Writer) {
	fmt.Fprintf(w, "%s: schema version %d, %d steps tried on a private copy of %d bytes\n", oneLine(r.Path), r.From, len(r.Steps), r.CopyBytes)
	for _, name := range r.Restored {
		fmt.Fprintf(w, "missing  %s would be made again\n", oneLine(name))
	}
	for _, step := range r.Steps {
		step.write(w)
	}
	for _, table := range r.Tables {
		fmt.Fprintf(w, "rows  %10s -> %-10s  %s\n", rowCount(table.Before), rowCount(table.After), oneLine(table.Table))
	}
	for _, action := range r.Reconcile.Actions {
		fmt.Fprintf(w, "reconcile  %-26s  session %s: %s\n", action.Kind, oneLine(action.SessionID), oneLine(action.Detail))
	}
	for _, session := range r.Reconcile.Unreadable {
		fmt.Fprintf(w, "reconcile  %-26s  session %s: the time of its last event is %q\n", "left alone", oneLine(session.SessionID), session.LastEventAt)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", oneLine(note))
	}
	fmt.Fprintf(w, "integrity_check    %d findings before, %d after\n", len(r.IntegrityBefore), len(r.IntegrityAfter))
	fmt.Fprintf(w, "foreign_key_check  %d rows before, %d after\n", countRows(r.ForeignKeysBefore), countRows(r.ForeignKeysAfter))
	for _, text := range r.Failures {
		fmt.Fprintf(w, "would fail: %s\n", oneLine(text))
	}
	if r.WouldSucceed {
		fmt.Fprintf(w, "would succeed: from version %d to %d; nothing was changed\n", r.From, r.To)
	}
}

func (s rehearsedStep) write(w io.Writer) {
	fmt.Fprintf(w, "step %3d  %-9s  %9.3f ms  %s\n", s.Version, s.Outcome, s.DurationMS, s.Name)
	for _, line := range []struct {
		word  string
		names []string
	}{{"adds", s.Added}, {"changes", s.Changed}, {"drops", s.Dropped}} {
		if len(line.names) > 0 {
			fmt.Fprintf(w, "          %s %s\n", line.word, oneLine(strings.Join(line.names, ", ")))
		}
	}
	for _, rows := range s.Rows {
		fmt.Fprintf(w, "          rows of %s: %d inserted, %d updated, %d deleted\n", oneLine(rows.Table), rows.Inserted, rows.Updated, rows.Deleted)
	}
	for line := range strings.Lines(s.SQL) {
		fmt.Fprintf(w, "          | %s\n", strings.TrimSuffix(line, "\n"))
	}
}

func rowCount(n *int64) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

func countRows(tables []orphanRows) (total int64) {
	for _, table := range tables {
		total += table.Count
	}
	return total
}
