package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/history"
)

// FinishRequest names the session to close.
type FinishRequest struct {
	SessionID string
	// Abort closes it without a result.
	Abort bool
	// IfComplete leaves it open, which is no failure, while its round or run is
	// not complete or a process of it is unfinished. The caller's own process
	// does not count.
	IfComplete bool
	// BreakLease, with Abort, closes it although somebody else carries its
	// round on. The event says whose lease was broken.
	BreakLease bool
}

// FinishResult says how the session stands now.
type FinishResult struct {
	SessionID string
	// Changed is false when the session was closed already, or stays open.
	Changed      bool
	Completeness string
	// Open is why the session stays open (OpenIncomplete, OpenRunning,
	// OpenLeased); empty when it is closed.
	Open string
	// Ended counts the unfinished processes that were ended with it.
	Ended int64
	Outlook
}

// The reasons for which IfComplete leaves a session open.
const (
	OpenIncomplete = "not_complete"
	OpenRunning    = "still_running"
	OpenLeased     = "lease_held"
)

// Finish closes a session whose current round or run is complete, or, with
// Abort, any session, with that as the recorded reason. It ends the session's
// unfinished processes in the same transaction, except the caller's own.
// Without Abort it refuses while the round or run is not complete (Invariant),
// and always while somebody else carries it on, unless BreakLease is given.
// A closed session stays as it is.
func Finish(ctx context.Context, c Caller, in FinishRequest) (result FinishResult, err error) {
	var s session
	var ended []history.Entry
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) (err error) {
		clock := time.Now().UTC()
		at := stamp(clock)
		if s, err = c.resolve(ctx, tx.Queries, in.SessionID); err != nil {
			return err
		}
		result = FinishResult{SessionID: s.ID, Completeness: s.CompletenessState}
		defer func() {
			if err == nil {
				result.Outlook, err = c.outlook(ctx, tx.Queries, s.ID, clock)
			}
		}()
		if s.Status == "closed" {
			return nil
		}
		_, err = c.checkLease(ctx, tx.Queries, s, clock)
		var no *Error
		broken := errors.As(err, &no) && in.Abort && in.BreakLease && no.Kind != KindLeaseLost
		switch {
		case broken:
		case in.IfComplete && no != nil && no.Kind == KindLeaseHeld:
			result.Open = OpenLeased
			return nil
		case err != nil:
			return err
		}
		if in.IfComplete {
			if result.Open, err = c.whyOpen(ctx, tx, s, clock); err != nil || result.Open != "" {
				return err
			}
		}
		if !in.Abort && !s.HasTerminalArtifact {
			return s.unfinished()
		}
		event := s.closedEvent(at)
		if in.Abort {
			event.EventType, event.Phase = "session_aborted", &s.CurrentPhase
		}
		if broken {
			if event.Metadata, err = c.brokenLease(ctx, tx.Queries, s, clock); err != nil {
				return err
			}
		}
		result, ended, err = c.close(ctx, tx, s, event)
		return err
	})
	if err == nil {
		c.Record(ctx, ended)
		c.tell(s)
		if !result.Changed && result.Open == "" {
			c.Notice(fmt.Sprintf("note: session %s is closed already", s.ID))
		}
	}
	return result, err
}

// brokenLease is the note about a lease that is broken: by whom it was taken
// and in which event; nil when none is in force any more.
func (c Caller) brokenLease(ctx context.Context, q *gen.Queries, s session, at time.Time) (*string, error) {
	l, err := c.currentLease(ctx, q, s.ID, at)
	if err != nil || l == nil || l.abandoned || l.readable() && !l.inForce(at) {
		return nil, err
	}
	note, err := json.Marshal(struct {
		BrokenLease int64   `json:"broken_lease"`
		Owner       *string `json:"owner"`
	}{l.event, l.owner})
	return ptr(string(note)), err
}

// whyOpen says why a session cannot be closed yet without refusing or ending
// anything; empty when it can.
func (c Caller) whyOpen(ctx context.Context, tx *db.Tx, s session, at time.Time) (string, error) {
	if !s.HasTerminalArtifact {
		return OpenIncomplete, nil
	}
	others, _, err := c.unfinishedProcesses(ctx, tx.Queries, s.ID, at)
	if err != nil || len(others) == 0 {
		return "", err
	}
	return OpenRunning, nil
}

// closedEvent closes a session whose round or run is complete.
func (s session) closedEvent(at string) gen.EventAppendParams {
	return gen.EventAppendParams{
		SessionID: s.ID, EventType: "session_closed", Phase: ptr(phaseComplete),
		PhaseNumber: &s.PhaseNumber, Round: &s.CurrentRound, Now: at,
	}
}

// close appends the closing event, closes the row and ends the processes. What
// it ended is for the recovery log, after the commit.
func (c Caller) close(ctx context.Context, tx *db.Tx, s session, event gen.EventAppendParams) (FinishResult, []history.Entry, error) {
	result := FinishResult{SessionID: s.ID, Changed: true}
	if err := s.closeRow(ctx, tx, event); err != nil {
		return result, nil, err
	}
	unfinished, err := tx.JournalUnfinished(ctx, &s.ID)
	if err != nil {
		return result, nil, err
	}
	self, err := c.Self(ctx, tx.Queries, s.ID)
	if err != nil {
		return result, nil, err
	}
	others := int64(0)
	for _, row := range unfinished {
		if row.AgentJournal.ID != self {
			others++
		}
	}
	ids, err := tx.ExecutionCloseWithSession(ctx, gen.ExecutionCloseWithSessionParams{
		WorkflowID: &s.ID, Caller: self, ExitCode: ExitClosed, Now: &event.Now,
		Note: ptr("ended with its session at " + event.Now),
	})
	result.Ended = int64(len(ids))
	if err := db.ExpectRows(others, fmt.Sprintf("the end of the processes of session %q", s.ID))(result.Ended, err); err != nil {
		return result, nil, err
	}
	ended, err := history.Collect(ctx, tx.Queries, ids...)
	if err != nil {
		return result, nil, err
	}
	state, err := tx.CompletenessGet(ctx, s.ID)
	result.Completeness = state.CompletenessState
	return result, ended, err
}

// closeRow appends the closing event and closes the row.
func (s session) closeRow(ctx context.Context, tx *db.Tx, event gen.EventAppendParams) error {
	if err := openUnlogged(ctx, tx, s.ID, event.Now); err != nil {
		return err
	}
	if err := appendEvent(ctx, tx, event); err != nil {
		return err
	}
	return s.rowChanged(tx.SessionClose(ctx, gen.SessionCloseParams{
		ID: s.ID, PhaseNumber: s.PhaseNumber, CurrentRound: s.CurrentRound, CurrentMapRun: s.CurrentMapRun, Now: event.Now,
	}))
}

// unfinished says what is missing before the session can be closed.
func (s session) unfinished() *Error {
	event := s.terminalEvent()
	e := refuse(Invariant, KindUnfinished, s.command("status"),
		"session %q is not finished: %s %d has no %s event (it is in phase %s)", s.ID, s.unit(), s.number(), event, s.CurrentPhase)
	e.Details = struct {
		Missing string `json:"missing"`
		Number  int64  `json:"number"`
		Phase   string `json:"phase"`
	}{event, s.number(), s.CurrentPhase}
	return e
}
