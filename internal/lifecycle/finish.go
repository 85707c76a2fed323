package lifecycle

import (
	"context"
	"fmt"

	"ocr/db"
	"ocr/db/gen"
)

// FinishRequest names the session to close.
type FinishRequest struct {
	SessionID string
	// Abort closes it without a result.
	Abort bool
}

// FinishResult says how the session stands now.
type FinishResult struct {
	SessionID string
	// Changed is false when the session was closed already.
	Changed      bool
	Completeness string
	// Ended counts the unfinished processes that were ended with it.
	Ended int64
}

// Finish closes a session whose current round or run is complete, or, with
// Abort, any session, with that as the recorded reason. It ends the session's
// unfinished processes in the same transaction, except the caller's own.
// Without Abort it refuses while the round or run is not complete (Invariant).
// A closed session stays as it is.
func Finish(ctx context.Context, c Caller, in FinishRequest) (result FinishResult, err error) {
	var s session
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) error {
		at := now()
		var err error
		if s, err = c.resolve(ctx, tx.Queries, in.SessionID); err != nil {
			return err
		}
		result = FinishResult{SessionID: s.ID, Completeness: s.CompletenessState}
		if s.Status == "closed" {
			return nil
		}
		if !in.Abort && !s.HasTerminalArtifact {
			return s.unfinished()
		}
		event := gen.EventAppendParams{
			SessionID: s.ID, EventType: "session_closed", Phase: ptr(phaseComplete),
			PhaseNumber: &s.PhaseNumber, Round: &s.CurrentRound, Now: at,
		}
		if in.Abort {
			event.EventType, event.Phase = "session_aborted", &s.CurrentPhase
		}
		if result, err = c.close(ctx, tx, s, event); err != nil {
			return err
		}
		return nil
	})
	if err == nil {
		c.tell(s)
		if !result.Changed {
			c.Notice(fmt.Sprintf("note: session %s is closed already", s.ID))
		}
	}
	return result, err
}

// close appends the closing event, closes the row and ends the processes.
func (c Caller) close(ctx context.Context, tx *db.Tx, s session, event gen.EventAppendParams) (FinishResult, error) {
	result := FinishResult{SessionID: s.ID, Changed: true}
	if err := tx.EventAppend(ctx, event); err != nil {
		return result, err
	}
	err := tx.SessionClose(ctx, gen.SessionCloseParams{
		ID: s.ID, PhaseNumber: s.PhaseNumber, CurrentRound: s.CurrentRound, CurrentMapRun: s.CurrentMapRun, Now: event.Now,
	})
	if err != nil {
		return result, err
	}
	closing := gen.ExecutionCloseWithSessionParams{
		WorkflowID: &s.ID, Now: &event.Now, Note: ptr("ended with its session at " + event.Now),
	}
	if c.ExecutionUID != "" {
		closing.CallerUID = &c.ExecutionUID
	}
	if result.Ended, err = tx.ExecutionCloseWithSession(ctx, closing); err != nil {
		return result, err
	}
	state, err := tx.CompletenessGet(ctx, s.ID)
	result.Completeness = state.CompletenessState
	return result, err
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
