// Package lifecycle moves sessions through their workflow: one verb a file,
// each verb one transaction. What it decides, it decides from views and
// queries of package db inside that transaction; the triggers of the schema
// hold even where it errs.
package lifecycle

import (
	"context"
	"fmt"
	"time"

	"ocr/db"
	"ocr/internal/process"
	"ocr/internal/project"
)

// Caller is who calls a verb, and on which project.
type Caller struct {
	Project project.Project
	// Runtime holds the settings of the project.
	Runtime project.Runtime
	// StartDir is the directory that the caller gave with -C; empty when the
	// working directory, or OCR_DIR, leads to the project.
	StartDir string
	// Owner is the name under which a caller without a process row takes a
	// round over: a name for people that proves nothing.
	Owner string
	// Lease is the token of a lease that the caller shows, empty for none;
	// LeaseByFlag that it gave it on its command line, so that the commands
	// that it is told need it as well.
	Lease       string
	LeaseByFlag bool
	// ExecutionUID names the caller's own row in the process journal, as the
	// caller says it; empty when it does not say. Self finds out more.
	ExecutionUID string
	// ExecutionUIDByFlag: it was given with --as, so that a row of that name
	// must be there.
	ExecutionUIDByFlag bool
	// ParentPID is the process that called this program: the caller's own row
	// may be that of a process above it. 0 where nobody is to look.
	ParentPID int64
	// Notice gets lines for people: what was guessed, what was passed over.
	Notice func(line string)
	// Progress, if set, gets the stages of a long upgrade, each line to be
	// shown in the place of the one before; the empty line ends it.
	Progress func(line string)
	// Waiting, if set, is db.Options.Waiting.
	Waiting func(line string)
	// Processes tells which processes live; nil asks this machine.
	Processes process.Facts
}

// write runs fn in the one transaction of a verb.
func (c Caller) write(ctx context.Context, create bool, fn func(ctx context.Context, tx *db.Tx) error) error {
	store, err := db.Open(ctx, c.Project.Database(), c.options(create))
	if err != nil {
		return err
	}
	c.KeepIgnored()
	err = store.Write(ctx, fn)
	if closeErr := store.Close(); err == nil && closeErr != nil {
		// The transaction stands: this is for people to know, not a failure.
		c.Notice("warning: closing the database: " + closeErr.Error())
	}
	return err
}

// KeepIgnored has every verb that writes look whether git would still leave the
// folder of data alone. That it would not, or cannot be seen to, is a warning.
func (c Caller) KeepIgnored() {
	if err := c.Project.KeepIgnored(); err != nil {
		c.Notice(fmt.Sprintf("warning: git may take the folder %s: %v; see ocr doctor --check place.beside", c.Project.Data(), err))
	}
}

// Options say how a verb outside this package opens an existing database.
func (c Caller) Options() db.Options { return c.options(false) }

// options say how the database is opened. Every verb opens it with these, so
// that whichever comes first to an old one repairs its sessions as well.
func (c Caller) options(create bool) db.Options {
	return db.Options{Create: create, Notice: c.Notice, Progress: c.Progress, Waiting: c.Waiting, Reconcile: c.reconcileInUpgrade}
}

// read runs fn on one consistent view; fn may run again. An old database is
// read as it will be after the upgrade.
func (c Caller) read(ctx context.Context, fn func(ctx context.Context, r *db.Reader) error) error {
	return db.ReadUpgraded(ctx, c.Project.Database(), c.options(false), fn)
}

// readAsIs is read for those who look again and again: an old database is
// refused, because each look would make a copy of it.
func (c Caller) readAsIs(ctx context.Context, fn func(ctx context.Context, r *db.Reader) error) error {
	return db.Read(ctx, c.Project.Database(), fn)
}

// now is the one clock reading of a verb, in the form that all programs store.
func now() string { return stamp(time.Now()) }

// stamp writes a time in the form that all programs store.
func stamp(at time.Time) string { return at.UTC().Format(time.DateTime) }

func isMissing(err error) bool { return db.KindOf(err) == db.KindNoDatabase }

func ptr[T any](value T) *T { return &value }
