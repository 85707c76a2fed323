package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ocr/internal/doctor"
	"ocr/internal/lifecycle"
)

// doctorResult is what doctor prints under --json.
type doctorResult struct {
	SchemaVersion int            `json:"schema_version"`
	Status        doctor.Status  `json:"status"`
	Checks        []doctor.Check `json:"checks"`
	Counts        doctorCounts   `json:"counts"`
	// With --engine-only, what the engine says about itself.
	*engineResult
	// With --fix, what was done about the findings; checks is what is left.
	*repairResult
	// Error is there when the exit code is not 0.
	Error *failure `json:"error,omitempty"`
}

type doctorCounts struct {
	OK      int `json:"ok"`
	Warn    int `json:"warn"`
	Fail    int `json:"fail"`
	Skip    int `json:"skip"`
	Unknown int `json:"unknown"`
}

// engineResult is what the engine says about itself.
type engineResult struct {
	SQLite         string   `json:"sqlite"`
	Driver         string   `json:"driver"`
	JournalMode    string   `json:"journal_mode"`
	ForeignKeys    bool     `json:"foreign_keys"`
	BusyTimeoutMS  int      `json:"busy_timeout_ms"`
	Synchronous    int      `json:"synchronous"`
	Wrote          bool     `json:"wrote"`
	CompileOptions []string `json:"compile_options"`
}

// repairResult is what --fix did.
type repairResult struct {
	DryRun   bool           `json:"dry_run"`
	Snapshot *string        `json:"snapshot"` // null without one
	Fixes    []doctor.Fixed `json:"fixes"`
}

// catalogResult is what --list-checks prints under --json.
type catalogResult struct {
	SchemaVersion int            `json:"schema_version"`
	Checks        []doctor.Entry `json:"checks"`
}

// names is the value of a flag that may stand several times.
type names []string

// String implements flag.Value.
func (n *names) String() string { return strings.Join(*n, ",") }

// Set implements flag.Value.
func (n *names) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			return errors.New("it takes the name of a check or group: see ocr doctor --list-checks")
		}
		*n = append(*n, name)
	}
	return nil
}

func doctorCommand(a *app) *command {
	fs := newFlags()
	var only names
	fs.Var(&only, "check", "make only this check or group, such as `ID` schema.views or schema; may be repeated")
	deep := fs.Bool("deep", false, "look at every index entry, every page of snapshots, and every completed round; takes long")
	strict := fs.Bool("strict", false, "exit 1 on warnings too")
	list := fs.Bool("list-checks", false, "list the checks and make none")
	engineOnly := fs.Bool("engine-only", false, "look at the engine in this program only, without any project")
	probeWrite := fs.Bool("probe-write", false, "also write a database in a new folder, read it back, and take the folder away")
	fix := fs.Bool("fix", false, "mend what can be mended without losing anything, after a verified snapshot")
	dryRun := fs.Bool("dry-run", false, "with --fix: say what would be mended and change nothing")
	c := &command{
		name:     "doctor",
		synopsis: "check the storage, every recorded run and the machine",
		usage:    "[--json] [--deep] [--check ID ...] [--list-checks] [--strict] [--engine-only] [--probe-write] [--fix [--dry-run]]",
		long: `Looks at the program, the place, the engine, the schema, the data, the runs and
their processes, and says of each thing what was measured, what a sound project
shows, and one command to run next. It changes nothing and works without a
project, without a database, and on one that is in use, read-only, newer, older
or damaged.

Exit 0 means sound, warnings included; 1 means that a check failed or could not
be made; 8 that all which could not be made waits for another process. On exit 1
or 8 the report stands on stdout all the same, under --json with the key error.

--fix mends one thing after the other, checks each again, and then reports what is
left. It makes a snapshot first, keeps a journal, ends runs and processes by their
own verbs, and never takes away rows of sessions, events or processes.`,
		example: "ocr doctor\nocr doctor --fix --dry-run\nocr doctor --check schema --check data.integrity --json\nocr doctor --engine-only --probe-write",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitBusy},
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if *list {
			return a.printCatalog()
		}
		switch {
		case *dryRun && !*fix:
			return c.usageError("%s takes --dry-run only with --fix: without it nothing changes anyway", c.path)
		case *engineOnly && given(fs, "check"):
			return c.usageError("%s --engine-only looks at no project: leave --check out", c.path)
		case *fix && (*engineOnly || *probeWrite):
			return c.usageError("%s takes --fix alone: it mends a project, not the engine", c.path)
		}
		request, err := a.doctorRequest()
		if err != nil {
			return err
		}
		request.Only, request.Deep, request.EngineOnly, request.ProbeWrite = only, *deep, *engineOnly, *probeWrite
		result, report, err := a.examine(ctx, request, *fix, *dryRun)
		var stranger *doctor.UnknownCheck
		if errors.As(err, &stranger) {
			return c.usageError("%v; ocr doctor --list-checks names them", stranger)
		}
		if err != nil {
			return err
		}
		if !*engineOnly {
			result.engineResult = nil
		}
		return a.printReport(result, report, report.Err(*strict))
	}
	return c
}

// doctorRequest says from where, and by whom, the looking is done.
func (a *app) doctorRequest() (doctor.Request, error) {
	start, err := filepath.Abs(a.startDir())
	facts := buildFacts()
	self, selfErr := os.Executable()
	if selfErr != nil {
		self = "" // the report says so
	}
	return doctor.Request{
		Start: start, Getenv: a.getenv,
		Program: doctor.Program{Version: facts.Version, Commit: facts.Commit, Path: self},
	}, err
}

// examine looks, or mends and then looks. Where there is no project, there is
// nothing to mend, and the report says so.
func (a *app) examine(ctx context.Context, request doctor.Request, fix, dryRun bool) (doctorResult, doctor.Report, error) {
	caller, noProject := lifecycle.Caller{}, error(nil)
	if fix {
		caller, noProject = a.caller()
	}
	if !fix || noProject != nil {
		report, err := doctor.Run(ctx, request)
		return newDoctorResult(report), report, err
	}
	repair, err := doctor.Fix(ctx, caller, request, dryRun)
	result := newDoctorResult(repair.Report)
	result.repairResult = &repairResult{DryRun: dryRun, Fixes: repair.Fixes}
	if repair.Snapshot != "" {
		result.Snapshot = &repair.Snapshot
	}
	return result, repair.Report, err
}

func (a *app) printCatalog() error {
	checks := doctor.Catalog()
	return a.print(catalogResult{schemaVersion, checks}, func(w io.Writer) {
		for _, e := range checks {
			fmt.Fprintf(w, "%-24s  %s\n", e.ID, e.Expected)
		}
	})
}

func newDoctorResult(report doctor.Report) doctorResult {
	result := doctorResult{
		SchemaVersion: schemaVersion, Status: report.Status, Checks: report.Checks,
		Counts: doctorCounts{
			OK: report.Count(doctor.OK), Warn: report.Count(doctor.Warn), Fail: report.Count(doctor.Fail),
			Skip: report.Count(doctor.Skip), Unknown: report.Count(doctor.Unknown),
		},
	}
	if p := report.Engine; p != nil {
		result.engineResult = &engineResult{
			SQLite: p.SQLite, Driver: p.Driver, JournalMode: p.Settings.JournalMode, ForeignKeys: p.Settings.ForeignKeys,
			BusyTimeoutMS: p.Settings.BusyTimeout, Synchronous: p.Settings.Synchronous, Wrote: p.Wrote, CompileOptions: p.CompileOptions,
		}
	}
	return result
}

// printReport prints the findings as the result of the command, whether they
// are good or bad.
func (a *app) printReport(result doctorResult, report doctor.Report, unsound error) error {
	text := func(w io.Writer) {
		writeRepair(w, result.repairResult)
		writeReport(w, report)
	}
	if unsound == nil {
		return a.print(result, text)
	}
	f := explain(unsound)
	if report.Busy() {
		f.Code, f.Kind = exitBusy, "busy"
	}
	f.Details = nil // the report itself holds them
	result.Error = &f
	if err := a.print(result, text); err != nil {
		return err
	}
	return a.unsound(f)
}

func writeRepair(w io.Writer, repair *repairResult) {
	if repair == nil {
		return
	}
	if repair.Snapshot != nil {
		fmt.Fprintf(w, "snapshot %s\n", oneLine(*repair.Snapshot))
	}
	for _, f := range repair.Fixes {
		fmt.Fprintf(w, "%-7s  %-24s  %s; %s\n", f.Outcome, f.Check, oneLine(f.Action), oneLine(f.Detail))
	}
	if len(repair.Fixes) == 0 {
		fmt.Fprintln(w, "nothing to mend")
	}
	fmt.Fprintln(w)
}

func writeReport(w io.Writer, report doctor.Report) {
	for _, c := range report.Checks {
		fmt.Fprintf(w, "%-7s  %-24s  %s\n", c.Status, c.ID, oneLine(c.Measured))
		if c.Status != doctor.Warn && c.Status != doctor.Fail && c.Status != doctor.Unknown {
			continue
		}
		for _, row := range c.Rows {
			fmt.Fprintf(w, "           %s\n", oneLine(row.String()))
		}
		if c.RowsOmitted > 0 {
			fmt.Fprintf(w, "           and %d more\n", c.RowsOmitted)
		}
		fmt.Fprintf(w, "         expected: %s\n         why: %s\n", c.Expected, c.Why)
		if c.Next != "" {
			fmt.Fprintf(w, "         next: %s\n", oneLine(c.Next))
		}
	}
	fmt.Fprintf(w, "\n%s: %d ok, %d warn, %d fail, %d unknown, %d skipped\n", report.Status, report.Count(doctor.OK),
		report.Count(doctor.Warn), report.Count(doctor.Fail), report.Count(doctor.Unknown), report.Count(doctor.Skip))
}

// told is the exit code of a command whose result says already what is wrong.
type told int

func (t told) Error() string { return fmt.Sprintf("exit %d", int(t)) }
