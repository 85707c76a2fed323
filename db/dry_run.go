package db

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Rehearsal is what an upgrade would do, found out on a private copy.
type Rehearsal struct {
	// From and To are schema versions; equal when no step is pending.
	From, To int
	// Bytes is the size of the copy.
	Bytes int64
	// Restored names indexes, triggers and views that are gone and would be
	// made again.
	Restored []string
	// Steps are the pending ones in their order; those behind one that fails
	// were not tried.
	Steps []RehearsedStep
	// Tables counts the rows of every table, in the order of the names.
	Tables []TableRows
	// IntegrityBefore and IntegrityAfter are the findings of the engine's own
	// check, of the file itself and of the upgraded copy; none when sound.
	IntegrityBefore, IntegrityAfter []string
	// OrphansBefore and OrphansAfter count the rows of each table whose
	// foreign key points nowhere.
	OrphansBefore, OrphansAfter []OrphanCount
	// Notes are what the upgrade would tell people.
	Notes []string
	// Failures say why the upgrade would fail, or must not be tried; none when
	// it would succeed.
	Failures []string
}

// RehearsedStep is one pending step.
type RehearsedStep struct {
	Step
	SQL string
	// Tried is false behind a step that failed; Failed says that this one did.
	Tried, Failed bool
	// Took is the time for the whole step, its checks and its commit included.
	Took time.Duration
	// Rows are the rows that it writes, in the order of the tables. The
	// ledgers are left out, and so are the rows that go with a dropped table.
	Rows []RowChanges
	// Added, Changed and Dropped name tables, columns, indexes, triggers and
	// views, such as "table sessions".
	Added, Changed, Dropped []string
}

// RowChanges counts the rows that a step writes in one table. A rebuilt table
// carries its passing name.
type RowChanges struct {
	Table                      string
	Inserted, Updated, Deleted int64
}

// TableRows is the number of rows of a table; nil where there is no such
// table.
type TableRows struct {
	Table         string
	Before, After *int64
}

// DryRun finds out what an upgrade of the file at path to the version to
// would do; 0 means the latest. It works on a private copy, also of a file
// that cannot be written, and changes nothing. A file that Migrate would
// refuse is refused in the same way; a version that it cannot be brought to
// with a *TargetError.
func DryRun(ctx context.Context, path string, to int, opt Options) (Rehearsal, error) {
	return newOpener(path, opt).dryRun(ctx, to)
}

func (o opener) dryRun(ctx context.Context, to int) (r Rehearsal, err error) {
	now, err := o.look(ctx)
	if err != nil {
		return r, err
	}
	if to == 0 {
		to = now.latest
	}
	if o, err = o.limited(now, to); err != nil {
		return r, err
	}
	r.From, r.To = now.version(), to
	if r.Steps, err = o.pending(now.version()); err != nil {
		return r, err
	}
	err = Inspect(ctx, o.path, func(ctx context.Context, source *Reader) (err error) {
		r.IntegrityBefore, err = source.integrityErrors(ctx)
		return err
	})
	if err != nil {
		return r, err
	}
	if len(r.IntegrityBefore) > 0 {
		r.Failures = append(r.Failures, "the file is damaged: "+some(r.IntegrityBefore))
		return r, nil
	}
	dir, remove, err := privateDir()
	if err != nil {
		return r, copyError(o.path, err)
	}
	defer func() { err = join(err, remove()) }()
	copied := filepath.Join(dir, "ocr.db")
	if r.Bytes, err = o.copyPrivately(ctx, copied); err != nil {
		return r, noCopyError(o.path, err)
	}
	err = o.rehearse(ctx, copied, &r)
	o.progress("")
	return r, err
}

// pending lists the steps above a version.
func (o opener) pending(version int) (list []RehearsedStep, err error) {
	steps, err := stepsIn(o.steps)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		if step.Version <= version {
			continue
		}
		body, err := stepSQL(step.Version)
		if err != nil {
			return nil, err
		}
		list = append(list, RehearsedStep{Step: step, SQL: body})
	}
	return list, nil
}

// rehearse upgrades the copy and writes down what happens.
func (o opener) rehearse(ctx context.Context, copied string, r *Rehearsal) error {
	private := o
	private.path = copied
	store, err := private.connect("rw")
	if err != nil {
		return noCopyError(o.path, err)
	}
	// Errors name the file itself: nobody knows the copy.
	var cleared []string
	o.opt.Notice = func(line string) { cleared = append(cleared, line) }
	err = store.on(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
			return err
		}
		if err := o.clearMark(ctx, conn); err != nil {
			return err
		}
		h, err := readHistory(ctx, embedded)
		if err != nil {
			return err
		}
		if err := o.checkShape(ctx, conn, h); err != nil {
			return err
		}
		before, err := o.countAll(ctx, conn)
		if err != nil {
			return err
		}
		r.OrphansBefore = before.orphans
		if r.Restored, err = o.restore(ctx, conn, h); err != nil {
			return err
		}
		if err := o.rehearseSteps(ctx, conn, r); err != nil {
			return err
		}
		after, err := o.countAll(ctx, conn)
		if err != nil {
			return err
		}
		r.OrphansAfter = after.orphans
		r.Tables = tableRows(before.rows, after.rows)
		r.IntegrityAfter, err = (&Reader{conn: conn}).integrityErrors(ctx)
		return err
	})
	if err := join(err, store.Close()); err != nil {
		return noCopyError(o.path, err)
	}
	r.Notes = append(cleared, r.Notes...)
	if len(r.IntegrityAfter) > 0 {
		r.Failures = append(r.Failures, "the upgraded copy does not pass the engine's check: "+some(r.IntegrityAfter))
	}
	if was, is := orphanRows(r.OrphansBefore), orphanRows(r.OrphansAfter); is > was {
		r.Failures = append(r.Failures, fmt.Sprintf("%d more rows would refer to something that is gone", is-was))
	}
	return nil
}

// rehearseSteps runs the pending steps. A step that fails is a result, not an
// error.
func (o opener) rehearseSteps(ctx context.Context, conn *sql.Conn, r *Rehearsal) error {
	w := &stepWatch{ctx: ctx, conn: conn, steps: r.Steps}
	if err := w.look(); err != nil {
		return err
	}
	o.started, o.wrote = w.started, w.wrote
	ran, notes, failed := o.runSteps(ctx, conn)
	if err := w.ended(); err != nil {
		return err
	}
	r.Notes = notes
	if failed == nil {
		return nil
	}
	r.To = r.From
	if len(ran) > 0 {
		r.To = ran[len(ran)-1]
	}
	if w.now == nil || KindOf(failed) != KindInternal && KindOf(failed) != KindInTheWay {
		return failed
	}
	w.now.Failed = true
	r.Failures = append(r.Failures, fmt.Sprintf("step %d (%s): %v", w.now.Version, w.now.Name, failed))
	return nil
}

// stepWatch writes down what each step does.
type stepWatch struct {
	ctx   context.Context
	conn  *sql.Conn
	steps []RehearsedStep
	// now is the running step, begun its beginning, shape the schema before.
	now   *RehearsedStep
	begun time.Time
	shape shape
	rows  map[string]*RowChanges
	err   error
}

// started ends the step before and begins the next one.
func (w *stepWatch) started(version int) {
	w.err = join(w.err, w.ended())
	at := slices.IndexFunc(w.steps, func(s RehearsedStep) bool { return s.Version == version })
	if at < 0 {
		return
	}
	w.now, w.rows = &w.steps[at], map[string]*RowChanges{}
	w.now.Tried = true
	w.begun = time.Now()
}

// ended writes down the step that has just run. What a failed one wrote is
// undone, and counts all the same: it shows how far it came.
func (w *stepWatch) ended() error {
	if w.now == nil || w.err != nil {
		return w.err
	}
	w.now.Took = time.Since(w.begun)
	w.now.Rows = nil
	for _, changes := range w.rows {
		w.now.Rows = append(w.now.Rows, *changes)
	}
	slices.SortFunc(w.now.Rows, func(a, b RowChanges) int { return strings.Compare(a.Table, b.Table) })
	before := w.shape
	if err := w.look(); err != nil {
		return err
	}
	w.now.Added, w.now.Changed, w.now.Dropped = changedParts(before, w.shape)
	return nil
}

func (w *stepWatch) look() (err error) {
	w.shape, err = readShape(w.ctx, w.conn)
	return err
}

// wrote counts one row. Every step writes a row of a ledger: those say nothing.
func (w *stepWatch) wrote(row rowWrite) {
	table, op := row.table, row.op
	if w.now == nil || table == "schema_version" || table == "schema_migrations" || table == keptColumns {
		return
	}
	changes := w.rows[table]
	if changes == nil {
		changes = &RowChanges{Table: table}
		w.rows[table] = changes
	}
	switch op {
	case rowInserted:
		changes.Inserted++
	case rowUpdated:
		changes.Updated++
	case rowDeleted:
		changes.Deleted++
	}
}

// changedParts compares two schemas. The columns of a table that comes or goes
// are not named again.
func changedParts(before, after shape) (added, changed, dropped []string) {
	whole := func(p part, other shape) bool {
		table, _, _ := strings.Cut(p.name, ".")
		_, there := other[part{"table", table}]
		return p.kind != "column" || there
	}
	for p, statement := range after {
		was, there := before[p]
		switch {
		case !there && whole(p, before):
			added = append(added, p.String())
		case there && was != statement:
			changed = append(changed, p.String())
		}
	}
	for p := range before {
		if _, there := after[p]; !there && whole(p, after) {
			dropped = append(dropped, p.String())
		}
	}
	slices.Sort(added)
	slices.Sort(changed)
	slices.Sort(dropped)
	return added, changed, dropped
}

// counted is what there is before and after the steps.
type counted struct {
	rows    map[string]int64
	orphans []OrphanCount
}

func (o opener) countAll(ctx context.Context, conn *sql.Conn) (c counted, err error) {
	if c.rows, err = rowCounts(ctx, conn); err != nil {
		return c, err
	}
	c.orphans, err = orphans(ctx, conn)
	return c, err
}

func orphanRows(tables []OrphanCount) (total int64) {
	for _, table := range tables {
		total += table.Rows
	}
	return total
}

func tableRows(before, after map[string]int64) (list []TableRows) {
	number := func(rows map[string]int64, table string) *int64 {
		n, there := rows[table]
		if !there {
			return nil
		}
		return &n
	}
	for table := range before {
		list = append(list, TableRows{table, number(before, table), number(after, table)})
	}
	for table := range after {
		if _, there := before[table]; !there {
			list = append(list, TableRows{table, nil, number(after, table)})
		}
	}
	slices.SortFunc(list, func(a, b TableRows) int { return strings.Compare(a.Table, b.Table) })
	return list
}
