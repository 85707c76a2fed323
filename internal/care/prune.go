package care

import (
	"context"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/lifecycle"
)

// PruneOptions say which sessions Prune takes.
type PruneOptions struct {
	// OlderThanDays takes sessions whose last event lies at least that many
	// full days back; nil takes any age.
	OlderThanDays *int64
	// KeepSessions spares that many closed sessions, the newest; nil spares
	// none. One of the two must be given.
	KeepSessions *int64
	// IncludeUserData also removes triage, notes and conversations that hang
	// on what goes. Without it they stay, and so does what they hang on.
	IncludeUserData bool
	// DryRun says what would go and changes nothing.
	DryRun bool
	// Force goes on beside a dashboard and other users of the file.
	Force bool
}

// Pruned says what went, or would go.
type Pruned struct {
	// Sessions are the closed ones that the options take and that hold
	// artifacts, newest first.
	Sessions []string
	// Unreadable sessions have a last time that is none: they are left alone.
	Unreadable []UnreadableSession
	// Removed and Kept count rows of those sessions, table by table. Kept are
	// those that somebody wrote, or wrote on.
	Removed []TableCount
	Kept    []TableCount
	// Snapshot is the path of the copy made first; empty when nothing went.
	Snapshot string
}

// UnreadableSession is a session whose age nobody knows.
type UnreadableSession struct {
	SessionID string `json:"session_id"`
	LastAt    string `json:"last_at"`
}

// TableCount is a number of rows.
type TableCount struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// Prune removes what closed sessions have left in the tables for readers:
// rounds, maps and stored texts. All of it is derived from the files of the
// session. Sessions, events and process rows always stay. With nothing to
// remove it writes nothing; a dry run without a database finds nothing. The error is a *lifecycle.Error while others use
// the file, or an *db.Error.
func Prune(ctx context.Context, c lifecycle.Caller, opt PruneOptions) (result Pruned, err error) {
	if opt.OlderThanDays == nil && opt.KeepSessions == nil {
		return result, refuse(lifecycle.Usage, KindNoSelector, "ocr db prune --help", nil,
			"say which sessions: older than a number of days, all but a number of the newest, or both")
	}
	if !opt.DryRun {
		if err := alone(ctx, c, opt.Force); err != nil {
			return result, err
		}
		if err := c.Upgrade(ctx); err != nil {
			return result, err
		}
	}
	now := time.Now()
	err = c.Read(ctx, func(ctx context.Context, r *db.Reader) error {
		if err := r.Deletable(ctx); err != nil {
			return err
		}
		_, result, err = plan(ctx, r.Queries, opt, now)
		return err
	})
	if opt.DryRun && db.KindOf(err) == db.KindNoDatabase {
		return nothing(), nil
	}
	if err != nil || opt.DryRun || len(result.Removed) == 0 {
		return result, err
	}
	copied, err := db.Snapshot(ctx, c.Project.Database(), db.LabelPrune)
	if err != nil {
		return result, err
	}
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		var doomed []doom
		doomed, result, err = plan(ctx, tx.Queries, opt, now)
		if err != nil {
			return err
		}
		tables := make([]string, len(doomed))
		for i, d := range doomed {
			tables[i] = d.table
		}
		return tx.Delete(ctx, tables, func() error { return remove(ctx, doomed) })
	})
	result.Snapshot = copied
	return result, err
}

func nothing() Pruned {
	return Pruned{Sessions: []string{}, Unreadable: []UnreadableSession{}, Removed: []TableCount{}, Kept: []TableCount{}}
}

// remove deletes the rows; children stand before their parents.
func remove(ctx context.Context, doomed []doom) error {
	for _, d := range doomed {
		if err := db.ExpectRows(d.rows, "the removal from "+d.table)(d.remove(ctx, d.ids)); err != nil {
			return err
		}
	}
	return nil
}

// plan chooses the rows that go.
func plan(ctx context.Context, q *gen.Queries, opt PruneOptions, now time.Time) ([]doom, Pruned, error) {
	result := nothing()
	chosen, err := q.PruneSessions(ctx, gen.PruneSessionsParams{
		KeepSessions: opt.KeepSessions, NowEpoch: now.Unix(), OlderThanDays: opt.OlderThanDays,
	})
	if err != nil {
		return nil, result, err
	}
	for _, s := range chosen {
		if s.Verdict == "unreadable" {
			result.Unreadable = append(result.Unreadable, UnreadableSession{s.SessionID, s.LastAt})
			continue
		}
		result.Sessions = append(result.Sessions, s.SessionID)
	}
	all, err := choose(ctx, q, result.Sessions, true)
	if err != nil {
		return nil, result, err
	}
	doomed := all
	if !opt.IncludeUserData {
		if doomed, err = choose(ctx, q, result.Sessions, false); err != nil {
			return nil, result, err
		}
	}
	going := map[string]int64{}
	for _, d := range doomed {
		going[d.table] = d.rows
		if d.rows > 0 {
			result.Removed = append(result.Removed, TableCount{d.table, d.rows})
		}
	}
	for _, d := range all {
		if left := d.rows - going[d.table]; left > 0 {
			result.Kept = append(result.Kept, TableCount{d.table, left})
		}
	}
	return doomed, result, nil
}
