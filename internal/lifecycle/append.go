package lifecycle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ocr/db"
	"ocr/db/gen"
)

// appendEvent writes one event to the log.
func appendEvent(ctx context.Context, tx *db.Tx, event gen.EventAppendParams) error {
	what := fmt.Sprintf("the event %s of session %q", event.EventType, event.SessionID)
	return db.ExpectRows(1, what)(tx.EventAppend(ctx, event))
}

// rowOf holds a statement on the row of a session to having changed it.
func rowOf(sessionID string) func(changed int64, err error) error {
	return db.ExpectRows(1, fmt.Sprintf("the row of session %q", sessionID))
}

// rowChanged is rowOf for a session at hand.
func (s session) rowChanged(changed int64, err error) error { return rowOf(s.ID)(changed, err) }

// openUnlogged logs round_started for the current round or run where only the
// row says that it was opened: whoever lowers that row later does not take the
// round out of the record.
func openUnlogged(ctx context.Context, tx *db.Tx, sessionID, at string) error {
	place, err := tx.EventUnopened(ctx, sessionID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	event := gen.EventAppendParams{
		SessionID: sessionID, EventType: "round_started", Phase: &place.CurrentPhase,
		PhaseNumber: &place.PhaseNumber, Round: &place.CurrentRound, Now: at,
	}
	if place.WorkflowType == "map" {
		event.Metadata = runMetadata(place.CurrentMapRun)
	}
	return appendEvent(ctx, tx, event)
}
