package lifecycle

import (
	"context"
	"encoding/json"
	"time"

	"ocr/db"
	"ocr/db/gen"
)

// What a sweep does with a session.
const (
	// SweepFinish closes it as finish does: its round or run is complete.
	SweepFinish = "finish"
	// SweepStale closes it without a result: nothing happened for too long.
	SweepStale = "stale-close"
)

// SweepRequest says what counts as left behind.
type SweepRequest struct {
	// OlderThanDays is how many days ago the last event of a session must lie.
	OlderThanDays int64
	// DryRun finds out what would be closed, and changes nothing.
	DryRun bool
	// Ended are processes, by their row, that count as ended in a dry run.
	Ended []int64
}

// maxDays is longer than any log is old.
const maxDays = 1_000_000

const secondsPerDay = 24 * 60 * 60

func (in SweepRequest) seconds() int64 { return min(in.OlderThanDays, maxDays) * secondsPerDay }

// SweepResult names the sessions that were closed, or would be, and those
// about which nothing can be said. Neither list is ever nil.
type SweepResult struct {
	Closed     []SweptSession
	Unreadable []SweptSession
}

// SweptSession is one session that a sweep came upon.
type SweptSession struct {
	SessionID string
	// Action is SweepFinish or SweepStale; empty where the time is unreadable.
	Action string
	// LastAt is the time of the last event as the log holds it.
	LastAt string
}

// Sweep closes what was left open: active sessions without an unfinished
// process whose round or run is complete, or whose last event is older than
// asked. One whose last time is unreadable is left alone. Each session is
// judged again in the transaction that closes it. Without a database there is
// nothing to sweep.
func Sweep(ctx context.Context, c Caller, in SweepRequest) (SweepResult, error) {
	result := SweepResult{Closed: []SweptSession{}, Unreadable: []SweptSession{}}
	if !in.DryRun {
		if err := c.upToDate(ctx, false); isMissing(err) {
			return result, nil
		} else if err != nil {
			return result, err
		}
	}
	rows, err := c.sweepable(ctx, in)
	if err != nil {
		return result, err
	}
	var closing []gen.SweepSessionsRow
	for _, row := range rows {
		if row.Verdict == sweepUnreadable {
			result.Unreadable = append(result.Unreadable, SweptSession{SessionID: row.SessionID, LastAt: row.LastAt})
			continue
		}
		closing = append(closing, row)
	}
	if in.DryRun {
		for _, row := range closing {
			result.Closed = append(result.Closed, swept(row))
		}
		return result, nil
	}
	if len(closing) == 0 {
		return result, nil
	}
	err = c.series(ctx, false, func(store *db.Store) error {
		for _, row := range closing {
			closed, err := sweepSession(ctx, store, row.SessionID, in)
			if err != nil {
				return err
			}
			result.Closed = append(result.Closed, closed...)
		}
		return nil
	})
	return result, err
}

func (c Caller) sweepable(ctx context.Context, in SweepRequest) (rows []gen.SweepSessionsRow, err error) {
	ended := []byte("[]")
	if len(in.Ended) > 0 {
		if ended, err = json.Marshal(in.Ended); err != nil {
			return nil, err
		}
	}
	asked := gen.SweepSessionsParams{NowEpoch: time.Now().Unix(), ThresholdSeconds: in.seconds(), Ended: string(ended)}
	err = c.read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		rows, err = r.SweepSessions(ctx, asked)
		return err
	})
	if isMissing(err) {
		return nil, nil
	}
	return rows, err
}

// sweepFinish and sweepUnreadable are verdicts of the query SweepSessions.
const (
	sweepFinish     = "finish"
	sweepUnreadable = "unreadable"
)

func swept(row gen.SweepSessionsRow) SweptSession {
	action := SweepStale
	if row.Verdict == sweepFinish {
		action = SweepFinish
	}
	return SweptSession{SessionID: row.SessionID, Action: action, LastAt: row.LastAt}
}

// sweepSession closes one session, if it still is to be closed, and returns
// what it did.
func sweepSession(ctx context.Context, store *db.Store, id string, in SweepRequest) (closed []SweptSession, err error) {
	err = store.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		closed = nil
		at := time.Now().UTC()
		rows, err := tx.SweepSessions(ctx, gen.SweepSessionsParams{
			SessionID: &id, NowEpoch: at.Unix(), ThresholdSeconds: in.seconds(), Ended: "[]",
		})
		if err != nil || len(rows) == 0 || rows[0].Verdict == sweepUnreadable {
			return err
		}
		row := rows[0]
		s := session{StateGetRow: gen.StateGetRow{
			ID: row.SessionID, WorkflowType: row.WorkflowType, PhaseNumber: row.PhaseNumber,
			CurrentRound: row.CurrentRound, CurrentMapRun: row.CurrentMapRun,
		}}
		event := s.closedEvent(at.Format(time.DateTime))
		if row.Verdict != sweepFinish {
			metadata, err := json.Marshal(struct {
				Reason           string `json:"reason"`
				ThresholdSeconds int64  `json:"threshold_seconds"`
			}{"idle", in.seconds()})
			if err != nil {
				return err
			}
			event = staleEvent(s, string(metadata), at)
		}
		closed = []SweptSession{swept(row)}
		return s.closeRow(ctx, tx, event)
	})
	return closed, err
}
