package journal

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/lifecycle"
	"ocr/internal/process"
)

// Listed is one process of the journal, as it is recorded and as it is.
type Listed struct {
	gen.AgentJournal
	// Verdict says whether it lives; nil once it has ended.
	Verdict *process.Verdict
}

// ListRequest says whose processes to list.
type ListRequest struct {
	// Workflow is the session; empty for the one that every verb would pick.
	Workflow string
	// All lists those of every session.
	All bool
}

// List reads the journaled processes, oldest first. It ends none, also not
// those that it finds dead.
func List(ctx context.Context, c lifecycle.Caller, in ListRequest) ([]Listed, error) {
	if in.All {
		return listAll(ctx, c)
	}
	var session lifecycle.Chosen
	var rows []gen.JournalOfSessionRow
	err := c.Read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		if session, err = c.Resolve(ctx, r.Queries, in.Workflow); err != nil {
			return err
		}
		rows, err = r.JournalOfSession(ctx, &session.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.Tell(session)
	now := time.Now()
	listed := make([]Listed, 0, len(rows))
	for _, row := range rows {
		listed = append(listed, look(c, row.AgentJournal, now))
	}
	return listed, nil
}

func listAll(ctx context.Context, c lifecycle.Caller) ([]Listed, error) {
	var rows []gen.JournalAllRow
	err := c.Read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		rows, err = r.JournalAll(ctx)
		return err
	})
	if err != nil && db.KindOf(err) != db.KindNoDatabase {
		return nil, err
	}
	now := time.Now()
	listed := make([]Listed, 0, len(rows))
	for _, row := range rows {
		listed = append(listed, look(c, row.AgentJournal, now))
	}
	return listed, nil
}

// Latest reads the process of a session that was recorded last among those
// that are bound to a vendor's session.
func Latest(ctx context.Context, c lifecycle.Caller, workflow string) (Listed, error) {
	var session lifecycle.Chosen
	var row gen.JournalNewestBoundRow
	err := c.Read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		if session, err = c.Resolve(ctx, r.Queries, workflow); err != nil {
			return err
		}
		row, err = r.JournalNewestBound(ctx, &session.ID)
		if errors.Is(err, sql.ErrNoRows) {
			return refuse(lifecycle.NotFound, KindNoneBound, "ocr session list --all",
				"session %q has no process that is bound to a vendor's session", session.ID)
		}
		return err
	})
	if err != nil {
		return Listed{}, err
	}
	c.Tell(session)
	return look(c, row.AgentJournal, time.Now()), nil
}

func look(c lifecycle.Caller, row gen.AgentJournal, now time.Time) Listed {
	if row.EndedAt != nil {
		return Listed{AgentJournal: row}
	}
	verdict := c.Judge(row, now)
	return Listed{AgentJournal: row, Verdict: &verdict}
}
