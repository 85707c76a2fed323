package lifecycle

import (
	"context"
	"fmt"
	"time"

	"ocr/db/gen"
)

// maxAhead is how far in the future a sign of life may lie and still count as
// one of now: clocks of two machines differ by less.
const maxAhead = 5 * time.Minute

// activity is when something last happened in a session.
type activity struct {
	// stored is the time as it stands in the log; readable is false when that
	// is no valid timestamp.
	stored   string
	readable bool
	// age is how long ago it was; 0 when it lies a little in the future.
	age time.Duration
	// moving: it is recent enough for somebody to be at work, until the time
	// until if nothing more happens.
	moving bool
	until  time.Time
}

// lastActivity reads the newest event of a session. One that lies far in the
// future is no sign of life.
func (c Caller) lastActivity(ctx context.Context, q *gen.Queries, sessionID string, at time.Time) (activity, error) {
	row, err := q.SessionLastActivity(ctx, sessionID)
	if err != nil || row.LastEpoch == nil {
		return activity{stored: row.LastAt}, err
	}
	last := time.Unix(*row.LastEpoch, 0).UTC()
	a := activity{stored: row.LastAt, readable: true, age: at.Sub(last)}
	if a.age < -maxAhead {
		return a, nil
	}
	a.age = max(0, a.age)
	threshold := time.Duration(c.Runtime.HeartbeatSeconds) * time.Second
	a.moving = row.LastEventID != nil && a.age < threshold
	a.until = at.Add(threshold - a.age).Truncate(time.Second).Add(time.Second)
	return a, nil
}

// ago says how long ago something was, for people.
func ago(age time.Duration) string {
	if age < 2*time.Second {
		return "just now"
	}
	return fmt.Sprintf("%d seconds ago", int64(age/time.Second))
}
