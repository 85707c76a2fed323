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
// until ctx ends, which is no error, or each fails.
func Follow(ctx context.Context, c Caller, id string, after int64, each func(gen.EventTimelineRow) error) error {
	s, rows, err := c.timeline(ctx, c.readAsIs, id, after)
	if err != nil {
		return err
	}
	c.tell(s)
	for {
		for _, row := range rows {
			if err := each(row); err != nil {
				return err
			}
			after = row.EventID
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followPause):
		}
		if _, rows, err = c.timeline(ctx, c.readAsIs, s.ID, after); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
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
