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
	standing      db.Standing
	// shared are the versions in schema_version; nil without that table.
	shared []int64
	// own are the rows of schema_migrations; nil without that table.
	own []Row
	// version is the schema version by which every verb goes; 0 when the
	// ledgers do not tell.
	version int
	// drift is how the schema differs from what this program expects at that
	// version, parts how many of each kind there are; compared says that it was
	// compared at all.
	drift    []db.Difference
	parts    map[string]int
	compared bool
}

// errNotOurs: the file is a database, but none that this program has filled.
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
	f.standing, err = x.reader.Standing(ctx)
	switch db.KindOf(err) {
	case db.KindForeignDatabase, db.KindNoDatabase:
		return fmt.Errorf("%w: %w", errNotOurs, err)
	}
	if err != nil {
		return db.Classify(x.path, err)
	}
	if f.standing.SharedLedger {
		f.shared = []int64{}
		err := x.each(ctx, "facts/shared_ledger.sql", func(row Row) { f.shared = append(f.shared, row.number("version")) })
		if err != nil {
			return err
		}
	}
	if f.standing.OwnLedger {
		if f.own, err = x.all(ctx, "facts/own_ledger.sql"); err != nil {
			return err
		}
		f.own = append([]Row{}, f.own...)
	}
	if f.own == nil || f.oneStep() {
		f.version = f.standing.Version
	}
	return nil
}

// oneStep reports that our ledger holds one step, as it should.
func (f facts) oneStep() bool { return len(f.own) == 1 && f.own[0].text("type") == "integer" }

// compareSchema finds out how the schema differs from the expected one. Where
// the tables are a mixture of versions, there is none to compare with.
func (x *exam) compareSchema(ctx context.Context) (err error) {
	f := &x.facts
	if f.version < 1 || f.version > db.Latest() || f.standing.Mixed {
		return nil
	}
	f.drift, f.parts, err = x.reader.CompareSchema(ctx, f.version)
	f.compared = err == nil
	return db.Classify(x.path, err)
}

// wayOut shows what can be put in the place of a file that the verbs refuse:
// they send people here, so the next step must lead on.
func (x *exam) wayOut() string {
	list, err := db.Snapshots(x.path)
	if err == nil && slices.ContainsFunc(list, func(s db.SnapshotFile) bool { return s.Bytes > 0 }) {
		return "ocr db snapshots"
	}
	return "ocr db recover recovered.db"
}

// sharedLedger: every shared step that the version stands for has its row.
func sharedLedger(_ context.Context, x *exam) result {
	f := x.facts
	if f.shared == nil {
		return fail(x.wayOut(), "there is no table schema_version")
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
		return fail(x.wayOut(), "schema_version is empty")
	case len(missing) > 0:
		return fail(x.wayOut(), "%d of %d steps, without a row for %s", highest-len(missing), highest, strings.Join(missing, ", "))
	case len(above) > 0:
		return warn("ocr version", "rows 1 to %d, and %s of another program's later release", highest, strings.Join(above, ", "))
	}
	return ok("rows 1 to %d", highest)
}

// ownLedger: golang-migrate's table has one row and no mark of a half step.
func ownLedger(_ context.Context, x *exam) result {
	f := x.facts
	switch {
	case f.own == nil && len(f.shared) > 0:
		return ok("none yet: the first command that writes adds it")
	case len(f.own) != 1:
		return fail(x.wayOut(), "schema_migrations has %d rows", len(f.own)).with(f.own)
	case f.own[0].text("type") != "integer":
		return fail(x.wayOut(), "schema_migrations.version is a %s, not a number", f.own[0].text("type")).with(f.own)
	case f.own[0].number("dirty") != 0 && f.standing.Remakeable:
		return warn(fixNow, "another tool left step %d marked as unfinished; every table and column is as that version has it, of views, triggers and indexes not everything",
			f.own[0].number("version")).with(f.own)
	case f.own[0].number("dirty") != 0 && f.standing.Problem != nil:
		return fail(x.wayOut(), "another tool left step %d marked as unfinished; %s", f.own[0].number("version"), f.standing.Problem.Hint).with(f.own)
	case f.own[0].number("dirty") != 0:
		return warn("ocr db migrate", "another tool left step %d marked as unfinished, and every object is as that version has it: the next command that writes clears the mark",
			f.own[0].number("version")).with(f.own)
	}
	return ok("step %d, finished", f.own[0].number("version"))
}

// schemaVersion says what no other check says of the version: where the
// ledgers, or a table that is gone, keep the verbs from working, those checks
// speak.
func schemaVersion(ctx context.Context, x *exam) result {
	version, latest, problem := x.facts.version, db.Latest(), x.facts.standing.Problem
	switch {
	case version == 0, problem != nil && (sharedLedger(ctx, x).status == Fail || ownLedger(ctx, x).status == Fail):
		return skip("the ledgers do not tell: see schema.own_ledger and schema.shared_ledger")
	case problem != nil && slices.ContainsFunc(x.facts.drift, lacksData):
		return skip("a part of it is not there: see schema.tables and schema.columns")
	case problem != nil && !x.facts.standing.Remakeable:
		return fail(x.wayOut(), "%s", problem.Message)
	case version > latest:
		return fail("ocr version", "the file is at version %d, this program knows up to %d: it reads the file and does not write to it", version, latest)
	case version < latest:
		return warn("ocr db migrate", "the file is at version %d, this program works with %d: the next command that writes upgrades it", version, latest)
	}
	return ok("%d", version)
}

func lacksData(d db.Difference) bool {
	return d.Fault == db.FaultMissing && (d.Kind == tables || d.Kind == columns)
}

// The kinds of schema objects that are compared.
const (
	tables   = "table"
	columns  = "column"
	indexes  = "index"
	triggers = "trigger"
	views    = "view"
)

// asExpected declares the check of one kind of schema object.
func asExpected(kind string) func(ctx context.Context, x *exam) result {
	return func(_ context.Context, x *exam) result {
		if !x.facts.compared {
			return skip("the version is not one to compare with: see schema.version")
		}
		rows := x.faults(func(d db.Difference) bool { return d.Kind == kind && d.Fault != db.FaultExtra })
		if len(rows) > 0 {
			next := "ocr doctor --check schema --json"
			if x.facts.standing.Remakeable {
				next = fixNow
			} else if x.facts.standing.Problem != nil {
				next = x.wayOut()
			} else if kind != tables && kind != columns {
				next = fixDryRun
			}
			return fail(next, "%s", named(rows)).with(rows)
		}
		return ok("%d, all as version %d has them", x.facts.parts[kind], x.facts.version)
	}
}

func schemaExtra(_ context.Context, x *exam) result {
	if !x.facts.compared {
		return skip("the version is not one to compare with: see schema.version")
	}
	rows := x.faults(func(d db.Difference) bool { return d.Fault == db.FaultExtra })
	if len(rows) > 0 {
		return warn("ocr doctor --check schema.extra --json", "%s", named(rows)).with(rows)
	}
	return ok("none")
}

func (x *exam) faults(which func(db.Difference) bool) (rows []Row) {
	for _, d := range x.facts.drift {
		if !which(d) {
			continue
		}
		row := Row{"object": d.Kind + " " + d.Name, "fault": d.Fault}
		if d.Fault == db.FaultChanged {
			row["expected"], row["found"] = d.Expected, d.Found
		}
		rows = append(rows, row)
	}
	return rows
}

func named(rows []Row) string {
	var parts []string
	for _, row := range rows {
		parts = append(parts, row.text("object")+" "+row.text("fault"))
	}
	return listed(parts)
}
