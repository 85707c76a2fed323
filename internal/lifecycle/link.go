package lifecycle

import (
	"context"
	"database/sql"
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
// it cannot is no reason to lose the session: it warns. A row that was not
// stored, though nothing refused it, fails (db.KindNotRecorded).
func (c Caller) linkProcess(ctx context.Context, tx *db.Tx, uid, sessionID, at string) error {
	err := tx.Savepoint(ctx, func() error {
		_, err := tx.ExecutionWorkflow(ctx, &uid)
		if errors.Is(err, sql.ErrNoRows) {
			return errors.New("there is no such row")
		}
		if err != nil {
			return err
		}
		return db.ExpectRows(1, "the session of process "+uid)(
			tx.ExecutionLink(ctx, gen.ExecutionLinkParams{UID: &uid, WorkflowID: sessionID, Now: at}))
	})
	if db.KindOf(err) == db.KindNotRecorded {
		return err
	}
	if err != nil {
		c.Notice(fmt.Sprintf("warning: process %s is not linked to session %s: %v", uid, sessionID, err))
	}
	return nil
}
