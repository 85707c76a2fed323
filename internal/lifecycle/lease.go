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

// stranded says what to do with a session that no live process works on. It
// may have a worker all the same, one that is not journaled: whoever reads this
// is told both what a worker does and what anybody else may.
func (c Caller) stranded(ctx context.Context, q *gen.Queries, s session, phases phases, at time.Time) (NextAction, error) {
	leases, err := q.EventLeases(ctx, s.ID)
	if err != nil {
		return NextAction{}, err
	}
	l, err := c.currentLease(ctx, q, s.ID)
	if err != nil {
		return NextAction{}, err
	}
	last, err := c.lastActivity(ctx, q, s.ID, at)
	if err != nil {
		return NextAction{}, err
	}
	left := max(0, c.Runtime.ForwardResumeMaxAttempts-leases)
	next := NextAction{Kind: NextForwardResume, Argv: s.argv("resume"), Remaining: phases.after(s.CurrentPhase), AttemptsLeft: &left}
	if left == 0 {
		next.Kind, next.Argv = NextAbortOrFresh, s.argv("finish", "--abort")
	}
	worker := fmt.Sprintf("whoever works on this %s goes on from phase %s with: %s", s.unit(), s.CurrentPhase, commandLine(s.onward(phases)))
	switch {
	case l.held(at) && l.owner != nil && *l.owner == c.Owner:
		next.Argv = s.onward(phases)
		next.Text = fmt.Sprintf("you took this %s over; do the work of phase %s before %s, then go on with: %s",
			s.unit(), s.CurrentPhase, l.until.Format(time.RFC3339), commandLine(next.Argv))
	case l.held(at):
		next.Argv = s.argv("status")
		next.Text = fmt.Sprintf("%s took this %s over: leave it alone until %s, and see then with: %s",
			l.holder(), s.unit(), l.until.Format(time.RFC3339), commandLine(next.Argv))
	case left == 0:
		next.Text = fmt.Sprintf("this %s was taken over %d times without a result; %s -- whoever does not closes it without one with: %s",
			s.unit(), leases, worker, commandLine(next.Argv))
		if s.hasNext() {
			next.Text += fmt.Sprintf(" -- or starts afresh, in %s %d, with: %s", s.unit(), s.number()+1, commandLine(s.openNext(phases)))
		}
	case l != nil && !l.readable():
		next.Argv = s.onward(phases)
		next.Text = fmt.Sprintf("nobody can tell whether this %s is still taken over: its last event has no readable time; %s", s.unit(), worker)
	case last.moving:
		next.Text = fmt.Sprintf("%s; it gave a sign of life %s: whoever does not work on it waits until %s, and if nothing has happened by then takes it over with: %s",
			worker, ago(last.age), last.until.Format(time.RFC3339), commandLine(next.Argv))
	default:
		next.Text = fmt.Sprintf("%s; whoever does not takes it over with: %s", worker, commandLine(next.Argv))
	}
	return next, nil
}
