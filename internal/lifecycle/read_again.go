package lifecycle

import (
	"context"
	"path/filepath"
	"time"

	"ocr/db"
	"ocr/internal/artifact"
)

// ReadRoundAgain stores the result of a completed round for readers once more,
// from the payload that was recorded. The caller has compared it with the log.
// What people wrote about findings that are in it stays with them; findings
// that are not in it stay if people wrote on them.
func ReadRoundAgain(ctx context.Context, c Caller, sessionID string, number int64, payload []byte) error {
	round, err := artifact.ParseRound(payload)
	if err != nil {
		return err
	}
	return c.readAgain(ctx, sessionID, number, artifact.RoundFinal(number), func(ctx context.Context, tx *db.Tx, to target) error {
		return ingestRound(ctx, tx, to, round)
	})
}

// ReadMapAgain does so with a completed run of a map, for people's ticks.
func ReadMapAgain(ctx context.Context, c Caller, sessionID string, number int64, payload []byte) error {
	run, err := artifact.ParseMap(payload)
	if err != nil {
		return err
	}
	return c.readAgain(ctx, sessionID, number, artifact.MapFinal(number), func(ctx context.Context, tx *db.Tx, to target) error {
		return ingestMap(ctx, tx, to, run)
	})
}

func (c Caller) readAgain(ctx context.Context, sessionID string, number int64, final string, ingest func(ctx context.Context, tx *db.Tx, to target) error) error {
	var kept []KeptRow
	err := c.write(ctx, false, func(ctx context.Context, tx *db.Tx) error {
		s, err := c.resolve(ctx, tx.Queries, sessionID)
		if err != nil {
			return err
		}
		now := time.Now().UTC()
		to := target{session: s, number: number, dir: c.Project.SessionDir(s.SessionDir, s.ID), clock: now, now: stamp(now), kept: &kept}
		if there, err := artifact.Exists(to.dir, final); err != nil {
			return err
		} else if there {
			to.final = ptr(filepath.Join(to.dir, filepath.FromSlash(final)))
		}
		return ingest(ctx, tx, to)
	})
	if err == nil {
		c.noteKept(kept)
	}
	return err
}
