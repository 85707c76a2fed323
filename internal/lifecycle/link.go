package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"ocr/db"
	"ocr/db/gen"
)

// chooseLink picks the process row that belongs to a new session: the given
// one, else the caller's own, else the one that is just being started by a
// live dashboard.
func (c Caller) chooseLink(uid string) string {
	if uid != "" {
		return uid
	}
	if c.ExecutionUID != "" {
		return c.ExecutionUID
	}
	uid, _ = c.Project.LiveMarker()
	return uid
}

// linkProcess ties a process row to a session where it is tied to none. That
// it cannot is no reason to lose the session: it warns.
func (c Caller) linkProcess(ctx context.Context, tx *db.Tx, uid, sessionID, at string) {
	err := tx.Savepoint(ctx, func() error {
		linked, err := tx.ExecutionLink(ctx, gen.ExecutionLinkParams{UID: &uid, WorkflowID: sessionID, Now: at})
		if err == nil && linked == 0 {
			err = errors.New("there is no such row")
		}
		return err
	})
	if err != nil {
		c.Notice(fmt.Sprintf("warning: process %s is not linked to session %s: %v", uid, sessionID, err))
	}
}
