package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ocr/db/gen"
)

// Upgraded is what an upgrade did.
type Upgraded struct {
	// From and To are schema versions; equal when nothing was to do.
	From, To int
	// Snapshot is the path of the copy as the file was before; empty without
	// one.
	Snapshot string
	// Restored names indexes, triggers and views that were gone and were
	// made again.
	Restored []string
	// Altered names columns, indexes, triggers and views that say something
	// else than they should. They were left as they are.
	Altered []string
	// Notes are further lines for people: what Options.Reconcile did, and
	// rows that a step passed over.
	Notes []string
}

// Migrate brings the database at path to the latest version, as Open does,
// and also restores the indexes, triggers and views that are gone.
func Migrate(ctx context.Context, path string, opt Options) (Upgraded, error) {
	return newOpener(path, opt).migrate(ctx)
}

func (o opener) migrate(ctx context.Context) (done Upgraded, err error) {
	store, done, err := o.openUpgraded(ctx)
	o.progress("")
	if err != nil {
		return done, err
	}
	err = store.on(ctx, func(conn *sql.Conn) error {
		h, err := o.history(ctx)
		if err != nil {
			return err
		}
		made, err := o.restore(ctx, conn, h)
		done.Restored = append(done.Restored, made...)
		if err != nil {
			return err
		}
		done.Altered, err = altered(ctx, conn, done.To)
		return err
	})
	return done, join(err, store.Close())
}

// upgrade brings an old file to the latest version. Everything that can
// refuse comes first: the file is then as it was, its journal mode included.
func (o opener) upgrade(ctx context.Context, conn *sql.Conn, now standing) (done Upgraded, err error) {
	h, err := o.history(ctx)
	if err != nil {
		return done, err
	}
	if err := o.checkShape(ctx, conn, h); err != nil {
		return done, err
	}
	done = Upgraded{From: now.version(), To: now.version()}
	if !o.opt.NoSnapshot {
		if done.Snapshot, err = o.snapshotVersion(ctx, conn); err != nil {
			return done, noSnapshotError(o.path, err)
		}
	}
	if err := o.setWAL(ctx, conn); err != nil {
		return done, err
	}
	if done.Restored, err = o.restore(ctx, conn, h); err != nil {
		return done, err
	}
	ran, notes, err := o.runSteps(ctx, conn)
	if len(ran) > 0 {
		done.To = ran[len(ran)-1]
	}
	done.Notes = notes
	if err != nil {
		return done, err
	}
	done.Altered, err = altered(ctx, conn, done.To)
	return done, err
}

// altered names what says something else than it should.
func altered(ctx context.Context, conn *sql.Conn, version int) (list []string, err error) {
	err = inTransaction(ctx, conn, beginReading, func() error {
		list = nil
		found, _, err := compareSchema(ctx, conn, version)
		for _, d := range found {
			if d.Fault == FaultChanged {
				list = append(list, d.Kind+" "+d.Name)
			}
		}
		return err
	})
	return list, err
}

// runSteps runs the missing steps, each in its own transaction. It returns
// those that it ran itself, and what there is to say about them.
func (o opener) runSteps(ctx context.Context, conn *sql.Conn) (ran []int, notes []string, err error) {
	said := map[int][]string{}
	d := o.driver(ctx, conn)
	d.started = func(step int) {
		o.progress(fmt.Sprintf("upgrading %s: step %d of %d", filepath.Base(o.path), step, highest(o.steps)))
		if o.started != nil {
			o.started(step)
		}
	}
	d.during = map[int]around{
		foldStep: {before: func(ctx context.Context, conn *sql.Conn) error {
			passed, err := passedOver(ctx, conn)
			if len(passed) > 0 {
				said[foldStep] = []string{fmt.Sprintf("%d rows of agent_sessions were passed over, because command_executions has their uid already; the snapshot holds them: %s",
					len(passed), strings.Join(passed, ", "))}
			}
			return err
		}},
		guardStep: {after: func(ctx context.Context, conn *sql.Conn) error {
			lines, err := o.reconcile(ctx, conn)
			said[guardStep] = lines
			return err
		}},
	}
	err = o.up(d)
	for _, step := range d.ran {
		notes = append(notes, said[step]...)
	}
	return d.ran, append(notes, keptNotes(d.aside)...), err
}

// keptNotes names what others added and was made again.
func keptNotes(aside []keptAt) (notes []string) {
	var objects, columns, steps []string
	for _, at := range aside {
		for _, a := range at.aside.objects {
			if !slices.Contains(objects, a.String()) {
				objects = append(objects, a.String())
			}
		}
		for _, c := range at.aside.columns {
			columns = append(columns, "column "+c.table+"."+c.name)
		}
		if len(at.aside.objects) > 0 {
			steps = append(steps, fmt.Sprint(at.step))
		}
	}
	if len(objects) > 0 {
		notes = append(notes, fmt.Sprintf("of others, taken away for schema steps %s and made again as they were: %s", strings.Join(steps, ", "), strings.Join(objects, ", ")))
	}
	if len(columns) > 0 {
		notes = append(notes, "of others, carried over with their values: "+strings.Join(columns, ", "))
	}
	return notes
}

// foldStep moves agent_sessions into command_executions; guardStep brings the
// guarded completion; the views between the two lent steps tell the current
// round.
const (
	foldStep      = 11
	guardStep     = 12
	lentIndexStep = 15
	lentViewsStep = 17
)

// passedOver lists the agent processes that foldStep will not carry over.
func passedOver(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return names(ctx, conn, `
SELECT a.id
FROM agent_sessions AS a
WHERE EXISTS (SELECT 1 FROM command_executions AS c WHERE c.uid = a.id)
ORDER BY a.started_at, a.id`)
}

// reconcile runs the caller's repair. The definition of the current round
// comes with later steps: their objects are made for its time and taken away
// again, so that those steps find what they expect.
func (o opener) reconcile(ctx context.Context, conn *sql.Conn) (lines []string, err error) {
	if o.opt.Reconcile == nil {
		return nil, nil
	}
	before, err := readShape(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, step := range []int{lentIndexStep, lentViewsStep} {
		body, err := stepSQL(step)
		if err != nil {
			return nil, err
		}
		if _, err := conn.ExecContext(ctx, body); err != nil {
			return nil, err
		}
	}
	lines, err = o.opt.Reconcile(ctx, &Tx{Queries: gen.New(conn), conn: conn})
	if err != nil {
		return nil, err
	}
	after, err := readShape(ctx, conn)
	if err != nil {
		return nil, err
	}
	for p := range after {
		if _, kept := before[p]; kept {
			continue
		}
		if _, err := conn.ExecContext(ctx, "DROP "+p.kind+" "+quoteName(p.name)); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func stepSQL(step int) (string, error) {
	names, err := fs.Glob(embedded, fmt.Sprintf("schema/%04d_*.up.sql", step))
	if err != nil {
		return "", err
	}
	if len(names) != 1 {
		return "", fmt.Errorf("there are %d files for schema step %d", len(names), step)
	}
	body, err := embedded.ReadFile(names[0])
	return string(body), err
}

// tell prints the notice of an upgrade.
func (o opener) tell(done Upgraded) {
	if o.opt.Notice == nil || done.From == done.To {
		return
	}
	for _, line := range done.Lines(o.path) {
		o.opt.Notice(line)
	}
}

// Lines says what was done, for people.
func (u Upgraded) Lines(path string) (lines []string) {
	switch {
	case u.From == u.To && u.To == Latest():
		lines = append(lines, fmt.Sprintf("%s is at schema version %d, the latest", path, u.To))
	case u.From == u.To:
		lines = append(lines, fmt.Sprintf("%s is at schema version %d, as asked", path, u.To))
	case u.Snapshot == "":
		lines = append(lines, fmt.Sprintf("upgraded %s from schema version %d to %d, without a snapshot", path, u.From, u.To))
	default:
		lines = append(lines, fmt.Sprintf("upgraded %s from schema version %d to %d; as it was: %s", path, u.From, u.To, u.Snapshot))
	}
	for _, name := range u.Restored {
		lines = append(lines, "restored the "+name+", which was missing")
	}
	if len(u.Altered) > 0 {
		lines = append(lines, fmt.Sprintf("warning: altered, and left as it is: %s; 'ocr doctor --fix' makes altered indexes, triggers and views again as they should be",
			strings.Join(u.Altered, ", ")))
	}
	return append(lines, u.Notes...)
}
