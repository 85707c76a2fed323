package lifecycle

import (
	"context"
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
