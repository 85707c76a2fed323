package main

import (
	"context"
	"fmt"
	"io"

	"ocr/db"
	"ocr/internal/care"
)

// dbStatusResult is what db status prints under --json. Sizes are in bytes.
type dbStatusResult struct {
	SchemaVersion int    `json:"schema_version"`
	Path          string `json:"path"`
	// State is current, pending or newer; or the kind of what keeps the file
	// from being upgraded.
	State      string           `json:"state"`
	Problem    *string          `json:"problem"` // the same in words
	Version    int              `json:"version"`
	Latest     int              `json:"latest"`
	Migrations int              `json:"schema_migrations"`
	Shared     int              `json:"shared_schema"`
	Applied    []stepName       `json:"applied"`
	Pending    []stepName       `json:"pending"`
	Unknown    []int            `json:"unknown"` // recorded by other or later programs
	FileBytes  int64            `json:"file_bytes"`
	LogBytes   int64            `json:"log_bytes"`
	IndexBytes int64            `json:"log_index_bytes"`
	FreeBytes  int64            `json:"free_bytes"`
	Snapshots  []snapshotResult `json:"snapshots"`
	Error      *failure         `json:"error,omitempty"`
}

type stepName struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
}

func dbStatusCommand(a *app) *command {
	fs := newFlags()
	path := pathFlag(fs, "db", "look at the database file `PATH` instead of the project's")
	exitCode := fs.Bool("exit-code", false, "exit 6 when steps are pending, and 1 when nothing can upgrade the file")
	return &command{
		name:     "status",
		synopsis: "tell the schema version, pending steps, sizes and snapshots",
		usage:    "[--exit-code] [--db PATH] [--json]",
		long: `Works on files of every version, newer and half-upgraded ones included, and
changes nothing. The state is current, pending or newer, or the kind of what
keeps the file from being upgraded. Every snapshot is read as a whole.`,
		example: "ocr db status\nocr db status --exit-code --json",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitNotFound, exitInvariant, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			file, err := a.databaseFile(*path)
			if err != nil {
				return err
			}
			s, err := db.ReadStatus(ctx, file)
			if err != nil {
				return err
			}
			copies, err := care.ListSnapshots(ctx, file)
			if err != nil {
				return err
			}
			result := dbStatusResult{
				SchemaVersion: schemaVersion, Path: file, State: "current",
				Version: s.Version, Latest: s.Latest, Migrations: s.Migrations, Shared: s.Shared,
				Applied: stepNames(s.Applied), Pending: stepNames(s.Pending), Unknown: append([]int{}, s.Unknown...),
				FileBytes: s.MainBytes, LogBytes: s.LogBytes, IndexBytes: s.IndexBytes, FreeBytes: s.FreeBytes,
				Snapshots: snapshotResults(copies),
			}
			f := result.judge(s, dbFlag(*path, file))
			if f == nil || !*exitCode {
				return a.print(result, result.write)
			}
			result.Error = f
			if err := a.print(result, result.write); err != nil {
				return err
			}
			return a.unsound(*f)
		},
	}
}

// judge sets the state and returns what is to be said unless it is current.
// flagged is the --db that a command about the same file needs.
func (r *dbStatusResult) judge(s db.Status, flagged string) *failure {
	switch {
	case s.Problem != nil:
		f := explain(s.Problem)
		r.State, r.Problem = f.Kind, &f.Message
		if flagged != "" && (s.Problem.Kind == db.KindHalfUpgraded || s.Problem.Kind == db.KindOutOfOrder) {
			// ocr doctor looks at the file of a project, and at no other.
			f.Hint = "ocr db verify" + flagged
		}
		return &f
	case s.Version > s.Latest:
		r.State = "newer"
		return &failure{
			Code: exitEnvironment, Kind: string(db.KindNewerSchema), Hint: fmt.Sprintf("use a program that knows version %d; reading works with this one", s.Version),
			Message: fmt.Sprintf("%s is at schema version %d, this program knows versions up to %d", r.Path, s.Version, s.Latest),
		}
	case len(s.Pending) > 0:
		r.State = "pending"
		return &failure{
			Code: exitInvariant, Kind: r.State, Hint: "ocr db migrate --dry-run" + flagged,
			Message: fmt.Sprintf("%s is at schema version %d: %d steps are pending", r.Path, s.Version, len(s.Pending)),
		}
	}
	return nil
}

func stepNames(steps []db.Step) []stepName {
	list := []stepName{}
	for _, step := range steps {
		list = append(list, stepName{step.Version, step.Name})
	}
	return list
}

func (r dbStatusResult) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n", oneLine(r.Path))
	fmt.Fprintf(w, "state      %s: version %d of %d (schema_version %d, schema_migrations %d)\n", r.State, r.Version, r.Latest, r.Shared, r.Migrations)
	if r.Problem != nil {
		fmt.Fprintf(w, "           %s\n", oneLine(*r.Problem))
	}
	fmt.Fprintf(w, "bytes      %d, log %d, index of the log %d; %d are free\n", r.FileBytes, r.LogBytes, r.IndexBytes, r.FreeBytes)
	for _, step := range r.Applied {
		fmt.Fprintf(w, "applied    %4d  %s\n", step.Version, step.Name)
	}
	for _, step := range r.Pending {
		fmt.Fprintf(w, "pending    %4d  %s\n", step.Version, step.Name)
	}
	for _, version := range r.Unknown {
		fmt.Fprintf(w, "unknown    %4d\n", version)
	}
	for _, s := range r.Snapshots {
		s.write(w)
	}
}
