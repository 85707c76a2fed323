package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/history"
)

// The reasons for which Resume does not take a round over.
const (
	ReasonComplete  = "complete"
	ReasonExhausted = "forward_resume_exhausted"
)

// ResumeRequest names the session to carry on.
type ResumeRequest struct {
	SessionID string
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
// is live, while somebody else has the round, and on a closed session. When
// every attempt is used up it closes the session without a result.
func Resume(ctx context.Context, c Caller, in ResumeRequest) (result ResumeResult, err error) {
	var s session
	var ended []history.Entry
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) error {
		at := time.Now().UTC()
		var err error
		if s, err = c.resolve(ctx, tx.Queries, in.SessionID); err != nil {
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
		leases, err := tx.EventLeases(ctx, s.ID)
		if err != nil {
			return err
		}
		limit := c.Runtime.ForwardResumeMaxAttempts
		result.Attempts, result.AttemptsLeft = leases, max(0, limit-leases)
		if s.HasTerminalArtifact {
			result.Reason = ReasonComplete
			result.Outlook, err = c.outlook(ctx, tx.Queries, s.ID, at)
			return err
		}
		if err := c.checkStranded(ctx, tx.Queries, s, at); err != nil {
			return err
		}
		if leases >= limit {
			result.Reason, result.Closed = ReasonExhausted, true
			if ended, err = c.closeExhausted(ctx, tx, s, leases, at); err != nil {
				return err
			}
			result.Outlook, err = c.outlook(ctx, tx.Queries, s.ID, at)
			return err
		}
		result.Resumed, result.Attempts, result.AttemptsLeft = true, leases+1, limit-leases-1
		result.LeaseUntil = at.Truncate(time.Second).Add(time.Duration(c.Runtime.ForwardResumeLeaseSeconds) * time.Second)
		record := leaseRecord{Kind: "forward_resume", Round: s.CurrentRound, Owner: &c.Owner}
		metadata, err := json.Marshal(record)
		if err != nil {
			return err
		}
		err = appendEvent(ctx, tx, gen.EventAppendParams{
			SessionID: s.ID, EventType: "session_resumed", Metadata: ptr(string(metadata)), Now: stamp(at),
		})
		if err != nil {
			return err
		}
		result.Outlook, err = c.outlook(ctx, tx.Queries, s.ID, at)
		return err
	})
	if err == nil {
		c.Record(ctx, ended)
		c.tell(s)
	}
	return result, err
}

// checkStranded refuses while somebody works on the session, or may.
func (c Caller) checkStranded(ctx context.Context, q *gen.Queries, s session, at time.Time) error {
	others, _, err := c.unfinishedProcesses(ctx, q, s.ID)
	if err != nil {
		return err
	}
	live := slices.DeleteFunc(others, func(w Waiting) bool { return !w.Live })
	if len(live) > 0 {
		return s.stillRunning(live)
	}
	held, err := c.currentLease(ctx, q, s.ID)
	switch {
	case err != nil || held == nil:
		return err
	case !held.readable():
		e := refuse(Invariant, KindLeaseUnreadable, s.command("status"),
			"%s %d of session %q was taken over, and nobody can tell whether that still holds: its last event has the time %q, which is none",
			s.unit(), s.number(), s.ID, held.last)
		e.Details = leaseDetails{Owner: held.owner}
		return e
	case held.held(at):
		until := held.until.Format(time.RFC3339)
		e := refuse(Invariant, KindLeaseHeld, s.command("status"),
			"%s %d of session %q was taken over by %s until %s", s.unit(), s.number(), s.ID, held.holder(), until)
		e.Details = leaseDetails{Until: &until, Owner: held.owner}
		return e
	}
	return nil
}

// leaseDetails are the facts of a refusal because of a lease.
type leaseDetails struct {
	Until *string `json:"until"`
	Owner *string `json:"owner"`
}

// stillRunning refuses to take a session from live processes.
func (s session) stillRunning(live []Waiting) *Error {
	type process struct {
		ID           string `json:"id"`
		Name         string `json:"name"`
		HeartbeatAge *int64 `json:"heartbeat_age_seconds"`
	}
	processes := make([]process, len(live))
	unreadable := 0
	for i, w := range live {
		processes[i] = process{w.ID, w.Name, w.HeartbeatAge}
		if w.HeartbeatAge == nil {
			unreadable++
		}
	}
	text := fmt.Sprintf("%d of its processes gave a sign of life just now", len(live)-unreadable)
	if unreadable > 0 {
		text += fmt.Sprintf(", and of %d the last heartbeat is no time", unreadable)
	}
	e := refuse(Invariant, KindStillRunning, s.command("status"), "session %q is not known to be stranded: %s", s.ID, text)
	e.Details = struct {
		Processes []process `json:"processes"`
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
