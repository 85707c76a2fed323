package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/project"
	"ocr/internal/shell"
)

// DefaultBudget bounds all looking at the database together; DeepBudget does
// so for a deep look.
const (
	DefaultBudget = time.Minute
	DeepBudget    = 15 * time.Minute
)

// Program is what the calling program knows about itself.
type Program struct {
	Version, Commit string
	// Path is the file that runs; empty when it cannot be told.
	Path string
}

// Request says what to look at.
type Request struct {
	// Start is the directory from which the project is looked for, upward.
	Start string
	// Database, if set, is the absolute path of the one file to look at,
	// whichever project it belongs to, or none.
	Database string
	Program  Program
	Getenv   func(string) string
	// Only names checks or groups; empty for all.
	Only []string
	// Deep compares every index with its table, verifies snapshots whole and
	// compares every completed round with its file.
	Deep bool
	// EngineOnly looks at the engine in this program, without any project.
	EngineOnly bool
	// ProbeWrite also makes a database in a new folder, in the project's data
	// folder or, with EngineOnly, in Start; writes, reads back, and takes the
	// folder away.
	ProbeWrite bool
	// Budget bounds the time for the database; zero means DefaultBudget, or
	// DeepBudget with Deep.
	Budget time.Duration
}

// Entry describes a check without making it.
type Entry struct {
	ID       string `json:"id"`
	Group    string `json:"group"`
	Expected string `json:"expected"`
	Why      string `json:"why"`
	// Fix says what Fix does about it; empty when it does nothing.
	Fix string `json:"fix"`
	// Probe is the SQL file behind it, empty when there is none.
	Probe string `json:"probe"`
}

// Catalog lists every check in the order of a report.
func Catalog() []Entry {
	var list []Entry
	for _, s := range specs() {
		e := Entry{ID: s.id, Group: s.group(), Expected: s.expected, Why: s.why, Fix: s.fixes}
		if s.probe {
			e.Probe = s.probeFile()
		}
		list = append(list, e)
	}
	return list
}

// UnknownCheck says that no check or group has the name.
type UnknownCheck struct {
	Name string
}

func (e *UnknownCheck) Error() string {
	return fmt.Sprintf("there is no check or group of checks named %q", e.Name)
}

// Run makes the checks that were asked for. It changes nothing, except with
// ProbeWrite. The error is an *UnknownCheck or that of ctx; whatever is found
// wrong stands in the report.
func Run(ctx context.Context, in Request) (Report, error) {
	chosen, err := choose(in)
	if err != nil {
		return Report{}, err
	}
	x := newExam(in)
	results := x.look(ctx, chosen)
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	var checks []Check
	for _, s := range chosen {
		check := s.check(results[s.id])
		if in.Database != "" && check.Next != "" {
			// What else a check would name acts on a project.
			check.Next = "ocr db status --db " + shell.Quote(in.Database)
		}
		checks = append(checks, check)
	}
	report := summary(tellCauses(checks, results))
	report.Engine = x.engine
	return report, nil
}

func choose(in Request) ([]spec, error) {
	for _, name := range in.Only {
		if !slices.ContainsFunc(specs(), func(s spec) bool { return s.is(name) }) {
			return nil, &UnknownCheck{Name: name}
		}
	}
	var chosen []spec
	for _, s := range specs() {
		asked := len(in.Only) == 0 || slices.ContainsFunc(in.Only, s.is)
		if asked && (!in.EngineOnly || s.group() == "engine") {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// exam is one run.
type exam struct {
	Request
	project project.Project
	// noProject says why there is none.
	noProject error
	// path is the database of the project, where links to it lead.
	path string
	// head is what the file looks like from outside.
	head head
	// refused says why the database could not be looked at; nil after it was.
	refused error
	// reader, facts are there while the database is looked at.
	reader *db.Reader
	facts  facts
	// caller is this program as verbs on the project know it.
	caller lifecycle.Caller
	// judged is what was found about silent processes; nil before the look.
	judged *judged
	// engine is what the engine says about itself; nil until it was asked.
	engine    *db.ProbeResult
	engineErr error
}

func newExam(in Request) *exam {
	x := &exam{Request: in}
	if x.Budget == 0 {
		x.Budget = DefaultBudget
		if x.Deep {
			x.Budget = DeepBudget
		}
	}
	if !x.EngineOnly {
		if in.Database != "" {
			x.project, x.path = project.Holding(in.Database), in.Database
		} else if x.project, x.noProject = project.Find(in.Start); x.noProject == nil {
			x.path = db.RealPath(x.project.Database())
		}
		if x.noProject == nil {
			x.head = readHead(x.path)
			settings, _ := x.project.Runtime(in.Getenv) // environment.settings tells what is wrong in them
			x.caller = lifecycle.Caller{
				Project: x.project, Runtime: settings, ExecutionUID: in.Getenv("OCR_DASHBOARD_EXECUTION_UID"), Notice: func(string) {},
			}
		}
	}
	return x
}

// look makes the checks: first those inside the database, because the others
// tell what kept them from being made.
func (x *exam) look(ctx context.Context, chosen []spec) map[string]result {
	results := x.inside(ctx, chosen)
	x.probeEngine(ctx, chosen)
	for _, s := range chosen {
		switch {
		case s.needs == nothing:
			results[s.id] = s.run(ctx, x)
		case x.noProject != nil:
			results[s.id] = skip("there is no project: see place.project")
		case s.needs == aProject:
			results[s.id] = s.run(ctx, x)
		}
	}
	return results
}

// inside makes the checks that read the database: those that read the whole
// file on one view, the others at the same time on another.
func (x *exam) inside(ctx context.Context, chosen []spec) map[string]result {
	results := map[string]result{}
	if x.EngineOnly || x.noProject != nil {
		return results
	}
	bounded, cancel := context.WithTimeout(ctx, x.Budget)
	defer cancel()
	beside := *x
	var besideResults map[string]result
	var fault any
	var done sync.WaitGroup
	done.Go(func() {
		// A panic here would end the program before it can say anything.
		defer func() { fault = recover() }()
		besideResults = beside.view(bounded, chosen, true)
	})
	maps.Copy(results, x.view(bounded, chosen, false))
	done.Wait()
	if fault != nil {
		panic(fault)
	}
	maps.Copy(results, besideResults)
	return results
}

// view makes the checks on one view of the database.
func (x *exam) view(ctx context.Context, chosen []spec, whole bool) map[string]result {
	results := map[string]result{}
	mine := slices.DeleteFunc(slices.Clone(chosen), func(s spec) bool { return s.needs != theDatabase || s.whole != whole })
	// The view may run again when others write: only its last results count.
	x.refused = db.Inspect(ctx, x.path, func(_ context.Context, r *db.Reader) error {
		clear(results)
		x.reader, x.judged = r, nil
		if err := x.gather(ctx); err != nil {
			return err
		}
		if slices.ContainsFunc(mine, func(s spec) bool { return s.group() == "schema" }) {
			if err := x.compareSchema(ctx); err != nil {
				return err
			}
		}
		for _, s := range mine {
			results[s.id] = x.one(ctx, s)
		}
		return nil
	})
	x.reader = nil
	if x.refused == nil {
		return results
	}
	clear(results)
	for _, s := range mine {
		results[s.id] = x.unseen(s)
	}
	return results
}

// one makes one check inside the database. Each may take half of the time
// that is left, so that a slow one leaves some to those behind it.
func (x *exam) one(ctx context.Context, s spec) result {
	if ctx.Err() != nil {
		return x.cutShort()
	}
	if x.facts.version > 0 && x.facts.version < s.since {
		return skip("needs schema version %d, the file is at %d: see schema.version", s.since, x.facts.version)
	}
	end, _ := ctx.Deadline()
	part, cancel := context.WithTimeout(ctx, time.Until(end)/2)
	defer cancel()
	r := s.run(part, x)
	if part.Err() != nil && r.status == Unknown {
		return x.cutShort()
	}
	return r
}

func (x *exam) cutShort() result {
	return result{
		status: Unknown, measured: fmt.Sprintf("cut short: all looking at the database may take %s", x.Budget),
		next: "ocr doctor --deep", err: context.DeadlineExceeded,
	}
}

// unseen is the result of a check that could not begin.
func (x *exam) unseen(s spec) result {
	switch {
	case errors.Is(x.refused, context.DeadlineExceeded):
		return x.cutShort()
	case isBusy(x.refused):
		return unknown(x.refused, "ocr doctor")
	case s.id == "data.integrity" && db.KindOf(x.refused) == db.KindCorrupt && x.head.sqlite:
		return x.damaged(x.refused)
	case db.KindOf(x.refused) == db.KindCorrupt && x.head.sqlite:
		return skip("the file is damaged: see data.integrity")
	case x.head.sqlite && x.besideFault() != "":
		return skip("something stands in the way beside the database: see place.beside")
	case x.head.sqlite && !x.foreign():
		return unknown(x.refused, "ls -la "+shell.Quote(x.project.Data()))
	}
	return skip("there is no database to look at: see place.database")
}

// foreign reports whether the file turned out to be none of ours.
func (x *exam) foreign() bool {
	return errors.Is(x.refused, errNotOurs) || db.KindOf(x.refused) == db.KindNotADatabase
}

func isBusy(err error) bool { return db.KindOf(err) == db.KindBusy }

// tellCauses turns what could not be looked at into Skip where another check
// names the cause: damage of the file, or a missing part of the schema.
func tellCauses(checks []Check, results map[string]result) []Check {
	damaged := results["data.integrity"].status == Fail
	incomplete := ""
	for _, id := range []string{"schema.tables", "schema.columns", "schema.views", "schema.indexes"} {
		if results[id].status == Fail && incomplete == "" {
			incomplete = id
		}
	}
	for i, c := range checks {
		switch {
		case c.Status != Unknown:
		case damaged && db.KindOf(c.cause) == db.KindCorrupt:
			checks[i].Status, checks[i].Measured, checks[i].Next = Skip, "the file is damaged: see data.integrity", ""
		case incomplete != "" && db.KindOf(c.cause) == db.KindSchema:
			checks[i].Status, checks[i].Next = Skip, ""
			checks[i].Measured = fmt.Sprintf("a part of the schema that it needs is not there: see %s", incomplete)
		}
	}
	return checks
}
