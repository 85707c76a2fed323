package db

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
)

// TargetError refuses a version that an upgrade cannot stop at: steps only
// lead upward, and only to versions that this program knows.
type TargetError struct {
	// To is the version asked for, From that of the file, Latest the highest
	// that this program knows.
	To, From, Latest int
}

func (e *TargetError) Error() string {
	return fmt.Sprintf("the database is at schema version %d and this program knows versions up to %d: it cannot be brought to %d", e.From, e.Latest, e.To)
}

// MigrateTo is Migrate up to the version to and no further. The error is a
// *TargetError for a version below that of the file or above Latest. Whatever
// writes next brings the file to the latest version.
func MigrateTo(ctx context.Context, path string, to int, opt Options) (Upgraded, error) {
	o := newOpener(path, opt)
	now, err := o.look(ctx)
	if err != nil {
		return Upgraded{}, err
	}
	if o, err = o.limited(now, to); err != nil {
		return Upgraded{}, err
	}
	return o.migrate(ctx)
}

// limited is the opener that knows no step above to.
func (o opener) limited(now standing, to int) (opener, error) {
	if to < now.version() || to > now.latest {
		return o, &TargetError{To: to, From: now.version(), Latest: now.latest}
	}
	o.steps = stepsUpTo{o.steps, to}
	return o, nil
}

// stepsUpTo hides the steps above a version.
type stepsUpTo struct {
	fs.FS
	version int
}

// ReadDir implements fs.ReadDirFS.
func (s stepsUpTo) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	return slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return stepNumber(entry.Name()) > s.version }), err
}
