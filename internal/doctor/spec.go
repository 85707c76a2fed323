package doctor

import (
	"context"
	"fmt"
	"strings"

	"ocr/internal/lifecycle"
)

// need is what a check works on.
type need int

const (
	nothing need = iota
	aProject
	theDatabase
)

// spec is one check as it is declared.
type spec struct {
	// id is the group and the noun.
	id string
	// expected is what a sound project shows, why what goes wrong otherwise.
	expected, why string
	needs         need
	// since is the first schema version that has what the check reads.
	since int
	// whole: it reads the whole file, and is made beside the others.
	whole bool
	// probe: the offending rows come from the SQL file of that name.
	probe bool
	// fixes says what Fix does about it; empty when it does nothing.
	fixes string
	run   func(ctx context.Context, x *exam) result
	// fix does it, in a transaction of its own, and says what was done.
	fix func(ctx context.Context, c lifecycle.Caller) (string, error)
	// idle says why fix would do nothing about a finding; empty when it would.
	// Nil: it always does something.
	idle func(ctx context.Context, c lifecycle.Caller, found Check) (string, error)
}

func (s spec) group() string {
	group, _, _ := strings.Cut(s.id, ".")
	return group
}

// is reports whether name is the check or its group.
func (s spec) is(name string) bool { return name == s.id || name == s.group() }

func (s spec) check(r result) Check {
	c := Check{
		ID: s.id, Group: s.group(), Status: r.status, Measured: r.measured, Expected: s.expected, Why: s.why,
		Next: r.next, Rows: r.rows, cause: r.err,
	}
	if len(c.Rows) > maxRows {
		c.Rows = c.Rows[:maxRows]
	}
	c.RowsOmitted = r.total - len(c.Rows)
	return c
}

// result is what one check found.
type result struct {
	status   Status
	measured string
	next     string
	// rows are the first offending rows, total how many there are.
	rows  []Row
	total int
	err   error
}

func ok(format string, args ...any) result {
	return result{status: OK, measured: fmt.Sprintf(format, args...)}
}

func skip(format string, args ...any) result {
	return result{status: Skip, measured: fmt.Sprintf(format, args...)}
}

func warn(next, format string, args ...any) result {
	return result{status: Warn, measured: fmt.Sprintf(format, args...), next: next}
}

func fail(next, format string, args ...any) result {
	return result{status: Fail, measured: fmt.Sprintf(format, args...), next: next}
}

func unknown(err error, next string) result {
	return result{status: Unknown, measured: "could not be looked at: " + err.Error(), next: next, err: err}
}

// with adds the offending rows.
func (r result) with(rows []Row) result {
	r.rows, r.total = rows, len(rows)
	return r
}
