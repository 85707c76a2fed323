package care

import (
	"context"
	"errors"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// VacuumOptions are what a person may choose about Vacuum.
type VacuumOptions struct {
	// NoSnapshot leaves out the copy that is made first.
	NoSnapshot bool
	// Force goes on beside a dashboard and other users of the file.
	Force bool
}

// Vacuumed says what Vacuum has done. Sizes are in bytes, of the file and its
// log together.
type Vacuumed struct {
	BytesBefore int64
	BytesAfter  int64
	// FreeBefore and FreeAfter are the part of them that holds nothing.
	FreeBefore int64
	FreeAfter  int64
	// Snapshot is the path of the copy made first, or empty.
	Snapshot string
	// Pending: others still read old pages, so the file shrinks only when
	// they are done.
	Pending bool
}

// Vacuum returns the free room of the database to the disk. The error is a
// *lifecycle.Error while others use the file, or an *db.Error.
func Vacuum(ctx context.Context, c lifecycle.Caller, opt VacuumOptions) (Vacuumed, error) {
	var v Vacuumed
	if err := alone(ctx, c, opt.Force); err != nil {
		return v, err
	}
	err := c.Upgrade(ctx)
	if err != nil {
		return v, err
	}
	if v.BytesBefore, v.FreeBefore, err = room(ctx, c); err != nil {
		return v, err
	}
	if !opt.NoSnapshot {
		if v.Snapshot, err = db.Snapshot(ctx, c.Project.Database(), db.LabelVacuum); err != nil {
			return v, err
		}
	}
	if v.Pending, err = rewrite(ctx, c); err != nil {
		return v, err
	}
	v.BytesAfter, v.FreeAfter, err = room(ctx, c)
	return v, err
}

func rewrite(ctx context.Context, c lifecycle.Caller) (pending bool, err error) {
	store, err := db.Open(ctx, c.Project.Database(), c.Options())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Vacuum(ctx); err != nil {
		return false, err
	}
	log, err := store.Checkpoint(ctx)
	return log.Busy, err
}

// room is what the database takes on disk, and how much of it holds nothing.
func room(ctx context.Context, c lifecycle.Caller) (bytes, free int64, err error) {
	path := db.RealPath(c.Project.Database())
	err = db.Read(ctx, path, func(ctx context.Context, r *db.Reader) error {
		sizes, err := r.Sizes(ctx, false)
		free = sizes.FreeBytes()
		return err
	})
	return fileBytes(path) + fileBytes(path+"-wal"), free, err
}
