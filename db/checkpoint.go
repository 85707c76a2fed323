package db

import (
	"context"
	"database/sql"
)

// Checkpoint is the outcome of one checkpoint.
type Checkpoint struct {
	// Busy: somebody kept it from finishing; what was copied stays copied.
	Busy bool
	// Frames is the number of pages that stood in the log, Copied how many of
	// them are in the file now. Both are 0 when it ended and the log is empty.
	Frames, Copied int64
}

// Checkpoint copies the write-ahead log into the file and empties it. It
// waits up to 5 seconds for readers of old pages, and for a writer. Who is in
// the way is no error: the engine reports it as a row.
func (s *Store) Checkpoint(ctx context.Context) (Checkpoint, error) {
	var c Checkpoint
	err := s.on(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&c.Busy, &c.Frames, &c.Copied)
	})
	return c, err
}
