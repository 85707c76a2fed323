package lifecycle

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ocr/db/gen"
)

// lease says who carries on a round that nobody worked on, and until when
// nobody else may. It is renewed by everything that happens in the session.
type lease struct {
	// owner is who took it; nil when another program wrote it.
	owner *string
	// last is the time of its last sign of life as the log holds it, and until
	// the end that follows; zero when that time is unreadable.
	last  string
	until time.Time
}

// leaseRecord is the metadata of the event session_resumed that is a lease;
// kind and round are shared with other programs.
type leaseRecord struct {
	Kind  string  `json:"kind"`
	Round int64   `json:"round"`
	Owner *string `json:"owner,omitempty"`
}

// currentLease reads the newest lease of the current round or run, be it held
// or over; nil when there is none since the session was opened.
func (c Caller) currentLease(ctx context.Context, q *gen.Queries, sessionID string) (*lease, error) {
	row, err := q.LeaseLast(ctx, sessionID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &lease{last: row.LastAt}
	if row.LastEpoch != nil {
		l.until = time.Unix(*row.LastEpoch+c.Runtime.ForwardResumeLeaseSeconds, 0).UTC()
	}
	var record leaseRecord
	if row.LeaseMetadata != nil && json.Unmarshal([]byte(*row.LeaseMetadata), &record) == nil {
		l.owner = record.Owner
	}
	return l, nil
}

// readable tells whether anything can be said about the end of the lease.
func (l *lease) readable() bool { return !l.until.IsZero() }

func (l *lease) held(at time.Time) bool { return l != nil && l.readable() && at.Before(l.until) }

// holder names the owner in a sentence.
func (l *lease) holder() string {
	if l.owner == nil {
		return "somebody else"
	}
	return *l.owner
}

// strandedText says what to do with a session that no live process works on.
func (c Caller) strandedText(ctx context.Context, q *gen.Queries, s session, onward, first string, leases, left int64) (string, error) {
	l, err := c.currentLease(ctx, q, s.ID)
	switch {
	case err != nil:
		return "", err
	case l.held(time.Now()) && l.owner != nil && *l.owner == c.Owner:
		return fmt.Sprintf("you took this %s over; do the work of phase %s before %s, then go on with: %s",
			s.unit(), s.CurrentPhase, l.until.Format(time.RFC3339), onward), nil
	case l.held(time.Now()):
		return fmt.Sprintf("%s took this %s over: leave it alone until %s, and see then with: %s",
			l.holder(), s.unit(), l.until.Format(time.RFC3339), s.command("status")), nil
	case left == 0 && !s.hasNext():
		return fmt.Sprintf("this %s was taken over %d times without a result; close it without one with: %s",
			s.unit(), leases, s.command("finish", "--abort")), nil
	case left == 0:
		return fmt.Sprintf("this %s was taken over %d times without a result; close it without one with: %s -- or start afresh, in %s %d, with: %s",
			s.unit(), leases, s.command("finish", "--abort"), s.unit(), s.number()+1, s.command("advance", "--phase", first,
				fmt.Sprintf("%s=%d", s.workflow().numberFlag, s.number()+1))), nil
	case l != nil && !l.readable():
		return fmt.Sprintf("nobody can tell whether this %s is still taken over: its last event has no readable time; whoever works on it goes on from phase %s with: %s",
			s.unit(), s.CurrentPhase, onward), nil
	}
	return fmt.Sprintf("nobody works on this %s; take it over, from phase %s, with: %s", s.unit(), s.CurrentPhase, s.command("resume")), nil
}
