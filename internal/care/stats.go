package care

import (
	"context"

	"ocr/db"
	"ocr/db/gen"
)

// Statistics are sizes, in bytes, and counts of one database.
type Statistics struct {
	// Exists is false when there is no database yet; all else is then 0.
	Exists bool
	// FileBytes and LogBytes are the sizes of the file and its log.
	FileBytes int64
	LogBytes  int64
	// Migrations and Shared are the schema versions that the file records.
	Migrations int
	Shared     int
	Sizes      db.Sizes
	Counts     gen.StatsCountsRow
	// Largest are the sessions that hold the most text.
	Largest []gen.StatsSessionsRow
	// Snapshots are the copies beside the database, newest first.
	Snapshots []Snapshot
}

// Stats counts what the database at path holds and changes nothing.
func Stats(ctx context.Context, path string, opt db.Options) (Statistics, error) {
	var s Statistics
	err := db.ReadUpgraded(ctx, path, opt, func(ctx context.Context, r *db.Reader) error {
		s = Statistics{Exists: true}
		s.Migrations, s.Shared = r.Schema()
		var err error
		if s.Sizes, err = r.Sizes(ctx, true); err != nil {
			return err
		}
		if s.Counts, err = r.StatsCounts(ctx); err != nil {
			return err
		}
		s.Largest, err = r.StatsSessions(ctx)
		return err
	})
	if err != nil && db.KindOf(err) != db.KindNoDatabase {
		return s, err
	}
	real := db.RealPath(path)
	s.FileBytes, s.LogBytes = fileBytes(real), fileBytes(real+"-wal")
	s.Snapshots, err = snapshots(path)
	return s, err
}
