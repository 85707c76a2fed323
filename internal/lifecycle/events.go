package lifecycle

import (
	"context"
	"time"

	"ocr/db"
	"ocr/db/gen"
)

// followPause is how long Follow waits before it looks at the log again.
const followPause = 250 * time.Millisecond

// Events reads the timeline of a session after the event with the given id.
func Events(ctx context.Context, c Caller, id string, after int64) ([]gen.EventTimelineRow, error) {
	s, rows, err := c.timeline(ctx, c.read, id, after)
	if err == nil {
		c.tell(s)
	}
	return rows, err
}

// Follow hands the timeline of a session to each, and then every new event,
// until ctx ends, which is no error, or each fails. While nothing changes it
// opens no file; what is new costs by itself, however long the log is.
func Follow(ctx context.Context, c Caller, id string, after int64, each func(gen.EventTimelineRow) error) error {
	watch := db.NewWatch(c.Project.Database())
	watch.Changed() // before the first reading
	s, rows, err := c.timeline(ctx, c.readAsIs, id, 0)
	if err != nil {
		return err
	}
	c.tell(s)
	run := int64(1)
	for {
		for _, row := range rows {
			if row.MapRun != nil {
				run = *row.MapRun
			}
			if row.EventID <= after {
				continue
			}
			if err := each(row); err != nil {
				return err
			}
			after = row.EventID
		}
		changed, replaced := false, false
		for !changed {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(followPause):
			}
			changed, replaced = watch.Changed()
		}
		if replaced {
			run = 1
			_, rows, err = c.timeline(ctx, c.readAsIs, s.ID, 0)
		} else {
			rows, err = c.newEvents(ctx, s, after, run)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// newEvents are the events of a session after the given one, whose map run is
// run, as timeline tells them.
func (c Caller) newEvents(ctx context.Context, s session, after, run int64) (rows []gen.EventTimelineRow, err error) {
	err = c.readAsIs(ctx, func(ctx context.Context, r *db.Reader) error {
		found, err := r.EventTimelineNew(ctx, gen.EventTimelineNewParams{MapRun: run, SessionID: s.ID, AfterID: after})
		rows = rows[:0]
		for _, f := range found {
			row := gen.EventTimelineRow{
				EventID: f.EventID, SessionID: f.SessionID, CreatedAt: f.CreatedAt, EventType: f.EventType, Phase: f.Phase,
				PhaseNumber: f.PhaseNumber, Round: f.Round, IsLease: f.IsLease, Metadata: f.Metadata,
			}
			if s.WorkflowType == "map" {
				row.MapRun = ptr(f.MapRun)
			}
			rows = append(rows, row)
		}
		return err
	})
	return rows, err
}

// reading is read or readAsIs.
type reading func(ctx context.Context, fn func(ctx context.Context, r *db.Reader) error) error

func (c Caller) timeline(ctx context.Context, read reading, id string, after int64) (s session, rows []gen.EventTimelineRow, err error) {
	err = read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		if s, err = c.resolve(ctx, r.Queries, id); err != nil {
			return err
		}
		rows, err = r.EventTimeline(ctx, s.ID, after)
		return err
	})
	return s, rows, err
}
