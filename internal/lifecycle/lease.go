package lifecycle

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/process"
	"ocr/internal/shell"
)

// lease is the right to carry a round or run on: the newest one of the current
// round or run, be it in force or over.
type lease struct {
	event int64
	owner *string
	token string
	// stored is the time of its last sign of life as the log holds it, and
	// until the end that follows; zero when that time is unreadable.
	stored string
	until  time.Time
	// abandoned: its owner is a process that has ended, or is proved dead.
	abandoned bool
	// journaled: its owner is a process with a row of its own.
	journaled bool
}

// leaseRecord is the metadata of the event session_resumed that is a lease;
// kind and round are shared with other programs.
type leaseRecord struct {
	Kind         string `json:"kind"`
	Round        int64  `json:"round"`
	Owner        string `json:"owner"`
	Token        string `json:"token"`
	LeaseSeconds int64  `json:"lease_seconds"`
}

// currentLease reads the newest lease of the current round or run; nil when
// there is none since it was opened.
func (c Caller) currentLease(ctx context.Context, q *gen.Queries, sessionID string, at time.Time) (*lease, error) {
	row, err := q.LeaseNewest(ctx, sessionID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &lease{event: row.EventID, owner: row.Owner, token: row.Token, stored: row.LastSignAt, abandoned: row.OwnerEnded}
	if row.LastSignEpoch != nil {
		// A clock that was ahead when the event was written says: now.
		last := min(*row.LastSignEpoch, at.Unix())
		l.until = time.Unix(last+row.LeaseSeconds, 0).UTC()
	}
	if l.owner == nil {
		return l, nil
	}
	id, err := q.ExecutionFind(ctx, *l.owner)
	if errors.Is(err, sql.ErrNoRows) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.journaled = true
	owner, err := q.JournalGet(ctx, id)
	if err != nil {
		return nil, err
	}
	if owner.AgentJournal.Status == "running" && c.Judge(owner.AgentJournal, at).State == process.Dead {
		l.abandoned = true
	}
	return l, nil
}

// readable tells whether anything can be said about the end of the lease.
func (l *lease) readable() bool { return !l.until.IsZero() }

func (l *lease) inForce(at time.Time) bool {
	return l != nil && !l.abandoned && l.readable() && at.Before(l.until)
}

// heldBy tells whether the caller shows that the lease is its own: by the
// token, or by being the process that owns it. self is that process, or empty.
func (l *lease) heldBy(c Caller, self string) bool {
	switch {
	case l == nil || l.owner == nil:
		return false
	case c.Lease != "":
		return c.Lease == l.token
	}
	return self != "" && self == *l.owner
}

// lostBy tells whether the caller shows a token that does not count any more.
func (l *lease) lostBy(c Caller) bool {
	return c.Lease != "" && (l == nil || l.token != c.Lease)
}

// mark is the metadata of an event that is appended with the lease, and so is
// a sign of life of it; nil without a lease.
func (l *lease) mark() *string {
	if l == nil {
		return nil
	}
	return ptr(fmt.Sprintf(`{"lease":%d}`, l.event))
}

// holder names the owner in a sentence.
func (l *lease) holder() string {
	if l.owner == nil {
		return "somebody else"
	}
	return *l.owner
}

// checkLease refuses (Invariant) to move a session whose current round or run
// somebody else carries on, and a caller that shows a lease which is not the
// newest. It returns the lease that the caller holds, in force or not, nil when
// it holds none. A lease without an owner is advisory: it refuses nothing here.
func (c Caller) checkLease(ctx context.Context, q *gen.Queries, s session, at time.Time) (*lease, error) {
	l, err := c.currentLease(ctx, q, s.ID, at)
	if err != nil {
		return nil, err
	}
	self := ""
	if l != nil && l.owner != nil {
		if self, err = c.Self(ctx, q, s.ID); err != nil {
			return nil, err
		}
	}
	switch {
	case l.lostBy(c):
		return nil, s.leaseLost(l, at)
	case l.heldBy(c, self):
		return l, nil
	case l == nil, l.owner == nil, l.abandoned, s.Status == "closed":
		return nil, nil
	case !l.readable():
		return nil, s.leaseUnreadable(l)
	case l.inForce(at):
		return nil, s.leaseHeld(l)
	}
	return nil, nil
}

// leaseDetails are the facts of a refusal because of a lease.
type leaseDetails struct {
	Until *string `json:"until"`
	Owner *string `json:"owner"`
}

func (l *lease) details() leaseDetails {
	d := leaseDetails{Owner: l.owner}
	if l.readable() {
		d.Until = ptr(l.until.Format(time.RFC3339))
	}
	return d
}

// leaseHeld refuses what only the holder of a lease may do.
func (s session) leaseHeld(l *lease) *Error {
	e := refuse(Invariant, KindLeaseHeld, s.command("status"), "%s %d of session %q was taken over by %s until %s%s",
		s.unit(), s.number(), s.ID, l.holder(), l.until.Format(time.RFC3339), l.wordsForOwner())
	e.Details = l.details()
	return e
}

// wordsForOwner tell the owner how to show that it is the one.
func (l *lease) wordsForOwner() string {
	switch {
	case l.owner == nil:
		return ""
	case l.journaled:
		return fmt.Sprintf("; if you are %s: add --as %s, or --lease with the token that resume printed", *l.owner, shell.Quote(*l.owner))
	}
	return fmt.Sprintf("; if you are %s: add --lease with the token that resume printed, or set OCR_LEASE to it", *l.owner)
}

// leaseLost refuses a caller whose lease does not count any more, also when
// nobody has one now: what it knows of the round is out of date.
func (s session) leaseLost(l *lease, at time.Time) *Error {
	what := "that was opened after your lease, and nobody has taken it over since"
	if l != nil {
		what = fmt.Sprintf("%s took it over after you", l.holder())
		if l.inForce(at) {
			what += ", until " + l.until.Format(time.RFC3339)
		}
	}
	s.identity = nil
	e := refuse(Invariant, KindLeaseLost, s.command("status"),
		"the lease you show is not the newest of %s %d of session %q: %s. What you did with it stands; leave --lease and OCR_LEASE out from now on",
		s.unit(), s.number(), s.ID, what)
	if l != nil {
		e.Details = l.details()
	}
	return e
}

// leaseUnreadable refuses where nobody can tell whether a lease is in force.
func (s session) leaseUnreadable(l *lease) *Error {
	e := refuse(Invariant, KindLeaseUnreadable, s.command("status"),
		"%s %d of session %q was taken over by %s, and nobody can tell whether that still holds: its last sign of life has the time %q, which is not a valid timestamp%s",
		s.unit(), s.number(), s.ID, l.holder(), l.stored, l.wordsForOwner())
	e.Details = l.details()
	return e
}

// leaseOwner is who takes a lease: the caller's own process while it works, else
// a name for people. A process that has ended, or is proved dead, would be the
// owner of a lease that is over at once; the token speaks for the caller then.
func (c Caller) leaseOwner(ctx context.Context, q *gen.Queries, self string, at time.Time) (string, error) {
	if self == "" {
		return c.Owner, nil
	}
	id, err := q.ExecutionFind(ctx, self)
	if err != nil {
		return "", err
	}
	row, err := q.JournalGet(ctx, id)
	if err != nil {
		return "", err
	}
	if row.AgentJournal.EndedAt == nil && c.Judge(row.AgentJournal, at).State != process.Dead {
		return self, nil
	}
	c.Notice(fmt.Sprintf("note: process %s has ended, or its process id belongs to nobody any more: the lease goes by its token alone", self))
	return c.Owner, nil
}

// takeLease appends the lease event for the caller.
func (c Caller) takeLease(ctx context.Context, tx *db.Tx, s session, self, token string, at time.Time) error {
	owner, err := c.leaseOwner(ctx, tx.Queries, self, at)
	if err != nil {
		return err
	}
	metadata, err := json.Marshal(leaseRecord{
		Kind: "forward_resume", Round: s.CurrentRound, Owner: owner, Token: token,
		LeaseSeconds: c.Runtime.ForwardResumeLeaseSeconds,
	})
	if err != nil {
		return err
	}
	return appendEvent(ctx, tx, gen.EventAppendParams{
		SessionID: s.ID, EventType: "session_resumed", Metadata: ptr(string(metadata)), Now: stamp(at),
	})
}

// renewLease appends a sign of life of the holder: the session enters the
// phase again in which it is, which is logged and moves nothing.
func (s session) renewLease(ctx context.Context, tx *db.Tx, l *lease, at time.Time) error {
	return appendEvent(ctx, tx, gen.EventAppendParams{
		SessionID: s.ID, EventType: "phase_transition", Phase: &s.CurrentPhase,
		PhaseNumber: &s.PhaseNumber, Round: &s.CurrentRound, Metadata: l.mark(), Now: stamp(at),
	})
}

// stranded says what to do with a session that no live process works on. It
// may have a worker all the same, one that is not journaled: whoever reads this
// is told both what a worker does and what anybody else may.
func (c Caller) stranded(ctx context.Context, q *gen.Queries, s session, phases phases, l *lease, at time.Time) (NextAction, error) {
	attempts, err := q.LeaseAttempts(ctx, s.ID)
	if err != nil {
		return NextAction{}, err
	}
	last, err := c.lastActivity(ctx, q, s.ID, at)
	if err != nil {
		return NextAction{}, err
	}
	left := max(0, c.Runtime.ForwardResumeMaxAttempts-attempts)
	next := NextAction{Kind: NextForwardResume, Argv: s.argv("resume"), Remaining: phases.after(s.CurrentPhase), AttemptsLeft: &left}
	if left == 0 {
		next.Kind, next.Argv = NextAbortOrFresh, s.argv("finish", "--abort")
	}
	worker := fmt.Sprintf("whoever works on this %s goes on from phase %s with: %s", s.unit(), s.CurrentPhase, commandLine(s.onward(phases)))
	switch {
	case l.inForce(at):
		next.Argv = s.argv("status")
		next.Text = fmt.Sprintf("%s took this %s over: leave it alone until %s, and see then with: %s%s",
			l.holder(), s.unit(), l.until.Format(time.RFC3339), commandLine(next.Argv), l.wordsForOwner())
	case left == 0:
		next.Text = fmt.Sprintf("this %s was taken over %d times without a result; %s -- whoever does not closes it without one with: %s",
			s.unit(), attempts, worker, commandLine(next.Argv))
		if s.hasNext() {
			next.Text += fmt.Sprintf(" -- or starts afresh, in %s %d, with: %s", s.unit(), s.number()+1, commandLine(s.openNext(phases)))
		}
	case l != nil && !l.abandoned && !l.readable():
		next.Argv = s.onward(phases)
		next.Text = fmt.Sprintf("nobody can tell whether this %s is still taken over: its last sign of life has no readable time; %s", s.unit(), worker)
	case last.moving:
		next.Text = fmt.Sprintf("%s; it gave a sign of life %s: whoever does not work on it waits until %s, and if nothing has happened by then takes it over with: %s",
			worker, ago(last.age), last.until.Format(time.RFC3339), commandLine(next.Argv))
	default:
		next.Text = fmt.Sprintf("%s; whoever does not takes it over with: %s", worker, commandLine(next.Argv))
	}
	return next, nil
}

// lost is what somebody does whose lease does not count any more.
func (c Caller) lost(ctx context.Context, q *gen.Queries, s session, phases phases, l *lease, at time.Time) (NextAction, error) {
	s.identity = nil
	next, err := c.stranded(ctx, q, s, phases, l, at)
	next.Argv = s.argv("status")
	next.Text = fmt.Sprintf("the lease you show is not the newest of this %s: leave it alone, and see what became of it with: %s", s.unit(), commandLine(next.Argv))
	return next, err
}

// withoutLease is the caller after it has opened the next round or run: its
// lease was for the one before.
func (c Caller) withoutLease(held *lease, s session) Caller {
	if held != nil && c.Lease != "" {
		c.Notice(fmt.Sprintf("note: the lease ended with %s %d: leave --lease and OCR_LEASE out from now on", s.unit(), s.number()))
		c.Lease = ""
	}
	return c
}
