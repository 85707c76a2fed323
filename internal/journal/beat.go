package journal

import (
	"context"
	"time"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// Beat records a sign of life and returns its time. It refuses once the
// process has ended (Invariant).
func Beat(ctx context.Context, c lifecycle.Caller, id string) (at string, err error) {
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, err := findRunning(ctx, tx.Queries, id)
		if err != nil {
			return err
		}
		at = stamp(time.Now())
		return changed(row.ID)(tx.ExecutionBeat(ctx, at, row.ExecutionID))
	})
	return at, err
}
