// Package doctor looks at the machine, at the files of a project and at what
// is recorded in them, and says of each thing whether it is sound, with
// numbers, why it matters, and the one next step. Looking changes nothing; only
// Fix does, after a verified snapshot.
package doctor

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"ocr/db"
)

// Status is the outcome of one check.
type Status string

const (
	// OK: looked at, and sound.
	OK Status = "ok"
	// Warn: somebody should know; nothing is broken.
	Warn Status = "warn"
	// Fail: broken.
	Fail Status = "fail"
	// Skip: there was nothing to look at, or the finding of another check
	// covers it; Measured says which.
	Skip Status = "skip"
	// Unknown: it could not be looked at. It counts as Fail.
	Unknown Status = "unknown"
)

// Check is one thing that was looked at.
type Check struct {
	// ID is the stable name, group and noun: "schema.views".
	ID    string `json:"id"`
	Group string `json:"group"`
	// Status is the outcome.
	Status Status `json:"status"`
	// Measured is what was seen, with numbers where there are any; for Skip
	// and Unknown the reason.
	Measured string `json:"measured"`
	// Expected is what a sound project shows.
	Expected string `json:"expected"`
	// Why says what goes wrong otherwise.
	Why string `json:"why"`
	// Next is one command to run next; empty when all is well. It never
	// destroys anything.
	Next string `json:"next"`
	// Rows are the offending rows, at most maxRows of them.
	Rows []Row `json:"rows,omitempty"`
	// RowsOmitted is how many more there are.
	RowsOmitted int `json:"rows_omitted,omitempty"`

	// cause is the error behind Unknown, for telling consequences from causes.
	cause error
}

// Row is one offending row, by column.
type Row map[string]any

// String shows the row as "column=value" in the order of the names.
func (r Row) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, name+"="+shown(r[name]))
	}
	return strings.Join(parts, " ")
}

// shown is a value of a row for people, with NULL for what is not there, also
// where a pointer says so.
func shown(value any) string {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() == reflect.Pointer {
		return "NULL"
	}
	return fmt.Sprint(v.Interface())
}

// maxRows bounds the rows of one check in a report.
const maxRows = 20

// Report is the outcome of all checks that were asked for.
type Report struct {
	// Status is ok, warn, or fail; unknown counts as fail.
	Status Status
	Checks []Check
	// Engine is what the engine says about itself; nil when no check asked.
	Engine *db.ProbeResult
}

// Count says how many checks have the status.
func (r Report) Count(status Status) int {
	n := 0
	for _, c := range r.Checks {
		if c.Status == status {
			n++
		}
	}
	return n
}

// Busy reports that nothing is known to be broken, but something could not be
// looked at because another process held the database.
func (r Report) Busy() bool {
	busy := false
	for _, c := range r.Checks {
		switch {
		case c.Status == Fail, c.Status == Unknown && !isBusy(c.cause):
			return false
		case c.Status == Unknown:
			busy = true
		}
	}
	return busy
}

// Err is nil when the report is sound: no check failed or is unknown and,
// when strict, none warns. Otherwise it is an *Unhealthy.
func (r Report) Err(strict bool) error {
	if r.Status == Fail || strict && r.Status == Warn {
		return &Unhealthy{Report: r}
	}
	return nil
}

// Unhealthy is the error of a report that is not sound.
type Unhealthy struct {
	Report Report
}

func (e *Unhealthy) Error() string {
	var bad []string
	for _, c := range e.worst() {
		bad = append(bad, c.ID+": "+c.Measured)
	}
	return "not everything is sound: " + strings.Join(bad, "; ")
}

// Next is what to do about the first of the worst findings.
func (e *Unhealthy) Next() string {
	for _, c := range e.worst() {
		if c.Next != "" {
			return c.Next
		}
	}
	return ""
}

func (e *Unhealthy) worst() []Check {
	var failed, warned []Check
	for _, c := range e.Report.Checks {
		switch c.Status {
		case Fail, Unknown:
			failed = append(failed, c)
		case Warn:
			warned = append(warned, c)
		}
	}
	if len(failed) > 0 {
		return failed
	}
	return warned
}

func summary(checks []Check) Report {
	r := Report{Status: OK, Checks: checks}
	switch {
	case r.Count(Fail)+r.Count(Unknown) > 0:
		r.Status = Fail
	case r.Count(Warn) > 0:
		r.Status = Warn
	}
	return r
}
