package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/project"
)

// The outcomes of one fix.
const (
	// Planned: a dry run would do it.
	Planned = "planned"
	// Mended: done, and the check does not complain any more.
	Mended = "mended"
	// Left: not done, or not all of it; Detail says why.
	Left = "left"
)

// Fixed is what was done about one check.
type Fixed struct {
	Check string `json:"check"`
	// Action is what this fix does, in general.
	Action  string `json:"action"`
	Outcome string `json:"outcome"`
	// Detail is what was done this time, or why not.
	Detail string `json:"detail"`
	// Before and After are what the check measured; After is empty in a dry
	// run.
	Before string `json:"before"`
	After  string `json:"after"`
}

// Repair is the outcome of Fix.
type Repair struct {
	// Snapshot is the verified copy that was made first; empty when nothing
	// was changed, and when an upgrade made its own.
	Snapshot string
	Fixes    []Fixed
	// Report is what the checks say afterwards.
	Report Report
}

// Fix mends what the checks complain about, one thing after the other, each in
// a transaction of its own after a verified snapshot, and checks each again.
// Runs and processes are mended by their own verbs. Nothing is mended in a file
// that is damaged, newer or of another program, or marked as unfinished while a
// table or column is not as its version has it. Rows of sessions, events and
// processes, and what people wrote, are never deleted.
// With dryRun nothing changes. The error is an *UnknownCheck or that of ctx;
// what could not be mended stands in the outcome, and is an *db.Error only
// where the file stores nothing (db.KindNotRecorded).
func Fix(ctx context.Context, c lifecycle.Caller, in Request, dryRun bool) (Repair, error) {
	f := &fixer{caller: c, in: in, dryRun: dryRun, repair: Repair{Fixes: []Fixed{}}}
	chosen, err := choose(in)
	if err != nil {
		return f.repair, err
	}
	if err := f.lookFirst(ctx); err != nil {
		return f.repair, err
	}
	for _, s := range inOrder(chosen) {
		if err := f.mend(ctx, s); err != nil {
			return f.repair, err
		}
	}
	if f.changed {
		f.repair.Report, err = Run(ctx, in)
		return f.repair, err
	}
	var checks []Check
	for _, s := range chosen {
		checks = append(checks, f.first[s.id])
	}
	f.repair.Report = summary(checks)
	return f.repair, nil
}

// fixOrder is the order in which fixes can work: what they build on first.
var fixOrder = []string{
	"schema.own_ledger", "schema.version", "data.journal_mode", "schema.views", "schema.triggers", "data.duplicates",
	"schema.indexes", "data.foreign_keys", "data.results",
	"processes.orphans", "lifecycle.unproven", "lifecycle.unfinished", "lifecycle.stale",
}

func inOrder(chosen []spec) (ordered []spec) {
	for _, id := range fixOrder {
		for _, s := range chosen {
			if s.id == id {
				ordered = append(ordered, s)
			}
		}
	}
	return ordered
}

type fixer struct {
	caller lifecycle.Caller
	in     Request
	dryRun bool
	// first is what every check said at the beginning.
	first map[string]Check
	// obstacle is what forbids to write to the file at all; empty if nothing
	// does.
	obstacle string
	// changed: something was done, and the checks may say something else.
	changed bool
	repair  Repair
}

// guards are the checks that must not fail before anything is mended.
var guards = []string{"place.project", "place.database", "place.beside", "schema.shared_ledger", "schema.own_ledger", "schema.version", "data.integrity"}

func (f *fixer) lookFirst(ctx context.Context) error {
	in := f.in
	if len(in.Only) > 0 {
		in.Only = slices.Concat(in.Only, guards)
	}
	report, err := Run(ctx, in)
	if err != nil {
		return err
	}
	f.first = map[string]Check{}
	for _, c := range report.Checks {
		f.first[c.ID] = c
	}
	for _, id := range guards {
		if c := f.first[id]; f.obstacle == "" && (c.Status == Fail || c.Status == Unknown) {
			f.obstacle = fmt.Sprintf("%s stands in the way: %s", id, c.Measured)
		}
	}
	return nil
}

// mend does what there is to do about one check.
func (f *fixer) mend(ctx context.Context, s spec) error {
	before := f.first[s.id]
	if f.changed && before.Status != OK {
		var err error
		if before, err = f.look(ctx, s.id); err != nil {
			return err
		}
	}
	if before.Status != Warn && before.Status != Fail {
		return nil
	}
	done := Fixed{Check: s.id, Action: s.fixes, Outcome: Left, Before: before.Measured}
	idle, err := f.idle(ctx, s, before)
	if err != nil {
		return err
	}
	switch {
	case f.obstacle != "":
		done.Detail = f.obstacle
	case idle != "":
		done.Detail = idle
	case f.dryRun:
		done.Outcome, done.Detail = Planned, "a snapshot would be made first"
	default:
		done.Detail, err = f.apply(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if db.KindOf(err) == db.KindNotRecorded {
			// Whatever else there is to mend would not be stored either.
			return err
		}
		if err != nil {
			done.Detail = err.Error()
		}
		after, err := f.look(ctx, s.id)
		if err != nil {
			return err
		}
		done.After = after.Measured
		if after.Status == OK {
			done.Outcome = Mended
		}
		f.record(done)
	}
	f.repair.Fixes = append(f.repair.Fixes, done)
	return nil
}

// idle asks whether there is anything that the fix would do. What keeps that
// from being known keeps the fix from working as well, and it will say so.
func (f *fixer) idle(ctx context.Context, s spec, found Check) (string, error) {
	if s.idle == nil || f.obstacle != "" {
		return "", nil
	}
	if f.dryRun && slices.ContainsFunc(f.repair.Fixes, func(done Fixed) bool { return strings.HasPrefix(done.Check, "schema.") }) {
		// The schema that would tell is mended first.
		return "", nil
	}
	why, err := s.idle(ctx, f.caller, found)
	if err != nil {
		why = err.Error()
	}
	return why, ctx.Err()
}

func (f *fixer) look(ctx context.Context, id string) (Check, error) {
	in := f.in
	in.Only = []string{id}
	report, err := Run(ctx, in)
	if err != nil || len(report.Checks) != 1 {
		return Check{}, errors.Join(err, ctx.Err())
	}
	return report.Checks[0], nil
}

// apply makes the snapshot, once, and the change. An upgrade makes its own.
func (f *fixer) apply(ctx context.Context, s spec) (string, error) {
	if f.repair.Snapshot == "" && s.id != "schema.version" {
		var err error
		f.repair.Snapshot, err = db.Snapshot(ctx, f.caller.Project.Database(), "doctor")
		if err != nil {
			return "", fmt.Errorf("nothing was changed, because no snapshot could be made: %w", err)
		}
	}
	f.changed = true
	return s.fix(ctx, f.caller)
}

// record adds a line to the journal of fixes. The journal is a help: that it
// cannot be written is a warning.
func (f *fixer) record(done Fixed) {
	line, err := json.Marshal(struct {
		At       string `json:"at"`
		Snapshot string `json:"snapshot"`
		Fixed
	}{time.Now().UTC().Format(time.RFC3339), f.repair.Snapshot, done})
	if err == nil {
		err = appendLine(JournalPath(f.caller.Project.Data()), line)
	}
	if err != nil {
		f.caller.Notice("warning: the journal of fixes was not written: " + err.Error())
	}
}

// JournalPath is the journal of fixes, one JSON object a line, in the data
// folder of a project.
func JournalPath(data string) string { return filepath.Join(data, ".cache", "doctor-fixes.jsonl") }

func appendLine(path string, line []byte) error {
	cache, err := project.OpenCache(filepath.Dir(path))
	if err != nil {
		return err
	}
	file, err := cache.Open(filepath.Base(path), os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return errors.Join(err, cache.Close())
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close(), cache.Close())
}
