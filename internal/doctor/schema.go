package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ocr/db"
)

// facts are read first of all in a view.
type facts struct {
	applicationID int64
	pageSize      int64
	pageCount     int64
	freeCount     int64
	shape         shape
	// shared are the versions in schema_version; nil without that table.
	shared []int64
	// own are the rows of schema_migrations; nil without that table.
	own []Row
	// version is the schema version the ledgers agree on; 0 when they do not
	// tell.
	version int
	// drift is how the schema differs from what this program expects at that
	// version; compared says that it was compared at all.
	drift    []difference
	compared bool
}

// errNotOurs: the file is a database, but not one of ours.
var errNotOurs = errors.New("not a database of this program")

// gather reads the facts.
func (x *exam) gather(ctx context.Context) error {
	x.facts = facts{}
	f := &x.facts
	rows, err := x.all(ctx, "facts/application.sql")
	if err != nil {
		return err
	}
	f.applicationID, f.pageSize = rows[0].number("application_id"), rows[0].number("page_size")
	f.pageCount, f.freeCount = rows[0].number("page_count"), rows[0].number("free_count")
	if f.shape, err = readShape(ctx, x.reader); err != nil {
		return err
	}
	if f.applicationID != 0 || !f.shape.ours() {
		return errNotOurs
	}
	if f.shape.has(tables, "schema_version") {
		f.shared = []int64{}
		err := x.each(ctx, "facts/shared_ledger.sql", func(row Row) { f.shared = append(f.shared, row.number("version")) })
		if err != nil {
			return err
		}
	}
	if f.shape.has(tables, "schema_migrations") {
		if f.own, err = x.all(ctx, "facts/own_ledger.sql"); err != nil {
			return err
		}
		f.own = append([]Row{}, f.own...)
	}
	f.version = f.recorded()
	return nil
}

// compareSchema finds out how the schema differs from the expected one.
func (x *exam) compareSchema(ctx context.Context) error {
	f := &x.facts
	if f.version < 1 || f.version > db.Latest() {
		return nil
	}
	expected, err := expectedShape(ctx, f.version)
	if err != nil {
		return err
	}
	f.drift, f.compared = compare(f.shape, expected, f.version > db.SharedLatest), true
	return nil
}

func (s shape) has(k kind, name string) bool {
	_, ok := s[strings.ToLower(object{kind: k, name: name}.key())]
	return ok
}

// ours reports whether the file has one of the tables that every version has.
func (s shape) ours() bool {
	return s.has(tables, "sessions") || s.has(tables, "orchestration_events") || s.has(tables, "command_executions")
}

// recorded is the version on which the ledgers agree; 0 when own has not one
// clean row, or there is neither.
func (f facts) recorded() int {
	switch {
	case f.own != nil && (len(f.own) != 1 || f.own[0].text("type") != "integer"):
		return 0
	case f.own != nil:
		return int(f.own[0].number("version"))
	case len(f.shared) > 0:
		return int(min(slices.Max(f.shared), db.SharedLatest))
	}
	return 0
}

// sharedLedger: every shared step that the version stands for has its row.
func sharedLedger(_ context.Context, x *exam) result {
	f := x.facts
	if f.shared == nil {
		return fail("ocr doctor --check schema.tables", "there is no table schema_version")
	}
	highest := min(f.version, db.SharedLatest)
	if f.version == 0 {
		highest = db.SharedLatest
		if len(f.shared) > 0 {
			highest = int(min(slices.Max(f.shared), db.SharedLatest))
		}
	}
	var missing, above []string
	for v := 1; v <= highest; v++ {
		if !slices.Contains(f.shared, int64(v)) {
			missing = append(missing, fmt.Sprint(v))
		}
	}
	for _, v := range f.shared {
		if v > int64(max(highest, db.SharedLatest)) || v > int64(highest) && f.own == nil || v < 1 {
			above = append(above, fmt.Sprint(v))
		}
	}
	switch {
	case len(f.shared) == 0:
		return fail("ocr doctor --check schema", "schema_version is empty")
	case len(missing) > 0:
		return fail("ocr doctor --check schema", "%d of %d steps, without a row for %s", highest-len(missing), highest, strings.Join(missing, ", "))
	case len(above) > 0:
		return warn("ocr version", "rows 1 to %d, and %s of another program's later release", highest, strings.Join(above, ", "))
	}
	return ok("rows 1 to %d", highest)
}

// ownLedger: golang-migrate's table has one row and no mark of a half step.
func ownLedger(_ context.Context, x *exam) result {
	f := x.facts
	const next = "ocr doctor --check schema --json"
	switch {
	case f.own == nil && len(f.shared) > 0:
		return ok("none yet: the first command that writes adds it")
	case len(f.own) != 1:
		return fail(next, "schema_migrations has %d rows", len(f.own)).with(f.own)
	case f.own[0].text("type") != "integer":
		return fail(next, "schema_migrations.version is a %s, not a number", f.own[0].text("type")).with(f.own)
	case f.own[0].number("dirty") != 0:
		return fail(next, "another tool left step %d marked as unfinished", f.own[0].number("version")).with(f.own)
	}
	return ok("step %d, finished", f.own[0].number("version"))
}

func schemaVersion(_ context.Context, x *exam) result {
	version, latest := x.facts.version, db.Latest()
	switch {
	case version == 0:
		return skip("the ledgers do not tell: see schema.own_ledger and schema.shared_ledger")
	case version > latest:
		return fail("ocr version", "the file is at version %d, this program knows up to %d: it reads the file and does not write to it", version, latest)
	case version < latest:
		return warn("ocr db migrate", "the file is at version %d, this program works with %d: the next command that writes upgrades it", version, latest)
	}
	return ok("%d", version)
}

// asExpected declares the check of one kind of schema object.
func asExpected(k kind) func(ctx context.Context, x *exam) result {
	return func(_ context.Context, x *exam) result {
		if !x.facts.compared {
			return skip("the version is not one that this program knows: see schema.version")
		}
		rows := x.faults(func(d difference) bool { return d.object.kind == k && d.fault != "extra" })
		if len(rows) > 0 {
			next := "ocr doctor --check schema --json"
			if slices.ContainsFunc(rows, func(row Row) bool { return row.text("fault") == "missing" }) && k != tables && k != columns {
				next = fixDryRun
			}
			return fail(next, "%s", named(rows)).with(rows)
		}
		n := 0
		for _, o := range x.facts.shape {
			if o.kind == k {
				n++
			}
		}
		return ok("%d, all as version %d has them", n, x.facts.version)
	}
}

func schemaExtra(_ context.Context, x *exam) result {
	if !x.facts.compared {
		return skip("the version is not one that this program knows: see schema.version")
	}
	rows := x.faults(func(d difference) bool { return d.fault == "extra" })
	if len(rows) > 0 {
		return warn("ocr doctor --check schema.extra --json", "%s", named(rows)).with(rows)
	}
	return ok("none")
}

func (x *exam) faults(which func(difference) bool) (rows []Row) {
	for _, d := range x.facts.drift {
		if which(d) {
			row := Row{"object": d.object.key(), "fault": d.fault}
			if d.fault == "changed" {
				row["expected"] = d.object.text
				row["found"] = x.facts.shape[strings.ToLower(d.object.key())].text
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func named(rows []Row) string {
	var parts []string
	for _, row := range rows {
		parts = append(parts, row.text("object")+" "+row.text("fault"))
	}
	if len(parts) > 5 {
		parts = append(parts[:5], fmt.Sprintf("and %d more", len(parts)-5))
	}
	return strings.Join(parts, ", ")
}
