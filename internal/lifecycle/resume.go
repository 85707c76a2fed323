package lifecycle

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/history"
	"ocr/internal/process"
)

// The reasons for which Resume does not take a round over.
const (
	ReasonComplete  = "complete"
	ReasonExhausted = "forward_resume_exhausted"
)

// ResumeRequest names the session to carry on.
type ResumeRequest struct {
	SessionID string
	// Now takes the round over although the session gave a sign of life just
	// now. It does not help against live processes or somebody else's lease.
	Now bool
}

// ResumeResult says whether the caller has the round now.
type ResumeResult struct {
	SessionID string
	Workflow  string
	Round     int64
	MapRun    int64
	// Resumed: the caller alone carries the round on, until LeaseUntil and for
	// as long after each further step.
	Resumed    bool
	LeaseUntil time.Time
	// LeaseToken is what shows later calls that the caller is the holder.
	LeaseToken string
	// Changed is false when the caller held the round already, which renews the
	// lease and costs no attempt, and when there is nothing to take over.
	Changed bool
	// Closed: every attempt was used up, and the session was closed.
	Closed bool
	// Reason is why it was not resumed, or empty.
	Reason string
	// Phase is where to go on; Remaining are the phases after it.
	Phase       string
	PhaseNumber int64
	Remaining   []string
	// Attempts is how often the round was taken over, this time included;
	// AttemptsLeft how often it still may be.
	Attempts     int64
	AttemptsLeft int64
	Outlook
}

// Resume takes the round or run of a stranded session over: from then on the
// caller alone carries it on, from the phase it stopped in. Of several that
// try at once one wins. It refuses (Invariant) while a process of the session
// is live, while somebody else has the round, while the session gives signs of
// life, and on a closed session. Its holder renews it with the same call. When
// every attempt is used up it closes the session without a result.
func Resume(ctx context.Context, c Caller, in ResumeRequest) (result ResumeResult, err error) {
	var s session
	var ended []history.Entry
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) error {
		at := time.Now().UTC()
		caller := c
		var err error
		if s, err = caller.resolve(ctx, tx.Queries, in.SessionID); err != nil {
			return err
		}
		phases, err := loadPhases(ctx, tx.Queries, s.WorkflowType)
		if err != nil {
			return err
		}
		result = ResumeResult{
			SessionID: s.ID, Workflow: s.WorkflowType, Round: s.CurrentRound, MapRun: s.CurrentMapRun,
			Phase: s.CurrentPhase, PhaseNumber: s.PhaseNumber, Remaining: phases.after(s.CurrentPhase),
		}
		if s.Status == "closed" {
			return refuse(Invariant, KindClosed, s.beginAgain(), "session %q is closed: there is nothing to carry on", s.ID)
		}
		attempts, err := tx.LeaseAttempts(ctx, s.ID)
		if err != nil {
			return err
		}
		limit := c.Runtime.ForwardResumeMaxAttempts
		result.Attempts, result.AttemptsLeft = attempts, max(0, limit-attempts)
		l, err := c.currentLease(ctx, tx.Queries, s.ID, at)
		if err != nil {
			return err
		}
		self, err := c.Self(ctx, tx.Queries, s.ID)
		if err != nil {
			return err
		}
		switch {
		case l.lostBy(c):
			return s.leaseLost(l, at)
		case s.HasTerminalArtifact:
			result.Reason = ReasonComplete
		case l.heldBy(c, self) && !l.abandoned:
			result.Resumed = true
			err = s.renewLease(ctx, tx, l, at)
		default:
			if err := c.checkStranded(ctx, tx.Queries, s, l, in.Now, at); err != nil {
				return err
			}
			result.Changed = true
			if attempts >= limit {
				result.Reason, result.Closed = ReasonExhausted, true
				ended, err = c.closeExhausted(ctx, tx, s, attempts, at)
				break
			}
			result.Resumed, result.Attempts, result.AttemptsLeft = true, attempts+1, limit-attempts-1
			if err := openUnlogged(ctx, tx, s.ID, stamp(at)); err != nil {
				return err
			}
			err = c.takeLease(ctx, tx, s, self, rand.Text(), at)
		}
		if err != nil {
			return err
		}
		if result.Resumed {
			if caller, err = caller.withLease(ctx, tx.Queries, s, self, &result, at); err != nil {
				return err
			}
		}
		result.Outlook, err = caller.outlook(ctx, tx.Queries, s.ID, at)
		return err
	})
	if err == nil {
		c.Record(ctx, ended)
		c.tell(s)
	}
	return result, err
}

// withLease reads the lease that the caller has now into the result, and
// returns the caller as it shows that: by its process, else by the token.
func (c Caller) withLease(ctx context.Context, q *gen.Queries, s session, self string, result *ResumeResult, at time.Time) (Caller, error) {
	l, err := c.currentLease(ctx, q, s.ID, at)
	if err != nil {
		return c, err
	}
	if l == nil {
		return c, fmt.Errorf("the lease on session %q was not recorded", s.ID)
	}
	result.LeaseUntil, result.LeaseToken = l.until, l.token
	if !l.heldBy(c, self) {
		c.Lease, c.LeaseByFlag = l.token, true
	}
	return c, nil
}

// checkStranded refuses while somebody works on the session, or may.
func (c Caller) checkStranded(ctx context.Context, q *gen.Queries, s session, l *lease, now bool, at time.Time) error {
	processes, err := c.Unfinished(ctx, q, s.ID, at)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(processes, func(p Process) bool { return p.Self || p.LastHeartbeatAt == nil })
	live := slices.DeleteFunc(slices.Clone(others), func(p Process) bool { return !p.AtWork() })
	switch {
	case len(live) > 0:
		return s.stillRunning(live)
	case l == nil, l.abandoned:
	case !l.readable():
		return s.leaseUnreadable(l)
	case l.inForce(at):
		return s.leaseHeld(l)
	}
	if now {
		return nil
	}
	last, err := c.lastActivity(ctx, q, s.ID, at)
	if err != nil || last.readable && !last.moving {
		return err
	}
	dead, err := c.allDead(ctx, q, s, others)
	if err != nil || dead {
		return err
	}
	return s.stillMoving(last)
}

// allDead tells whether the run had journaled processes, and all of them that
// did not report their end are proved dead: those that are unfinished, and
// those that a sweep found dead since the last event.
func (c Caller) allDead(ctx context.Context, q *gen.Queries, s session, unfinished []Process) (bool, error) {
	for _, w := range unfinished {
		if w.State != process.Dead {
			return false, nil
		}
	}
	if len(unfinished) > 0 {
		return true, nil
	}
	found, err := q.JournalFoundDead(ctx, s.ID)
	return found, err
}

// stillMoving refuses to take a session over in which something happened just
// now: an agent that is not journaled may be at work.
func (s session) stillMoving(last activity) *Error {
	var details struct {
		LastEventAt string  `json:"last_event_at"`
		Until       *string `json:"until"`
	}
	details.LastEventAt = last.stored
	what := fmt.Sprintf("its last event has the time %q, which is not a valid timestamp: nobody can tell how old it is", last.stored)
	if last.readable {
		details.Until = ptr(last.until.Format(time.RFC3339))
		what = fmt.Sprintf("something happened in it %s; unless more does, it can be taken over at %s", ago(last.age), *details.Until)
	}
	e := refuse(Invariant, KindStillMoving, s.command("status"),
		"session %q gives signs of life: %s. If you work on it, go on as before; if you know that nobody does, add --now", s.ID, what)
	e.Details = details
	return e
}

// stillRunning refuses to take a session from live processes.
func (s session) stillRunning(live []Process) *Error {
	type listed struct {
		ID           string `json:"id"`
		Name         string `json:"name"`
		HeartbeatAge *int64 `json:"heartbeat_age_seconds"`
	}
	processes := make([]listed, len(live))
	labels := make([]string, len(live))
	for i, p := range live {
		processes[i] = listed{p.ID, p.NameText(), p.HeartbeatAge}
		labels[i] = p.describe()
	}
	e := refuse(Invariant, KindStillRunning, s.command("status"),
		"session %q is not known to be stranded: %d of its processes work on it: %s", s.ID, len(live), strings.Join(labels, ", "))
	e.Details = struct {
		Processes []listed `json:"processes"`
	}{processes}
	return e
}

// closeExhausted ends a session that was carried on as often as it may be, and
// with it what stalled in it.
func (c Caller) closeExhausted(ctx context.Context, tx *db.Tx, s session, attempts int64, at time.Time) ([]history.Entry, error) {
	metadata, err := json.Marshal(struct {
		Reason   string `json:"reason"`
		Attempts int64  `json:"attempts"`
	}{ReasonExhausted, attempts})
	if err != nil {
		return nil, err
	}
	_, ended, err := c.close(ctx, tx, s, staleEvent(s, string(metadata), at))
	return ended, err
}

// staleEvent closes a session that nobody works on any more. It names no
// phase number and no round: the session stopped where it stood.
func staleEvent(s session, metadata string, at time.Time) gen.EventAppendParams {
	return gen.EventAppendParams{
		SessionID: s.ID, EventType: "session_auto_closed_stale", Phase: ptr(phaseComplete),
		Metadata: &metadata, Now: at.Format(time.DateTime),
	}
}
