// Package journal keeps the agent processes that work for a session: they are
// started, give signs of life and end here, one verb a file, each verb one
// transaction. Kind and status of a process are derived in the view
// agent_journal; whether one is dead is judged by package process.
package journal

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/lifecycle"
)

// stamp is a clock reading in the form that all programs store.
func stamp(clock time.Time) string { return clock.UTC().Format(time.DateTime) }

// find reads the process that callers know by this name: its uid, or the
// number of a row without one.
func find(ctx context.Context, q *gen.Queries, name string) (gen.AgentJournal, error) {
	id, err := q.ExecutionFind(ctx, name)
	if errors.Is(err, sql.ErrNoRows) {
		return gen.AgentJournal{}, refuse(lifecycle.NotFound, KindNoProcess, "ocr session list --all", "there is no process %q", name)
	}
	if err != nil {
		return gen.AgentJournal{}, err
	}
	row, err := q.JournalGet(ctx, id)
	return row.AgentJournal, err
}

// findRunning is find for verbs that only an unfinished process can carry out.
func findRunning(ctx context.Context, q *gen.Queries, name string) (gen.AgentJournal, error) {
	row, err := find(ctx, q, name)
	if err == nil && row.EndedAt != nil {
		err = refuse(lifecycle.Invariant, KindEnded, "ocr session start-instance records another process",
			"process %s ended at %s (%s)", name, *row.EndedAt, row.Status)
	}
	return row, err
}

// changed holds a statement on the row of a process to having changed it.
func changed(id string) func(changed int64, err error) error {
	return db.ExpectRows(1, "the row of process "+id)
}

func ptr[T any](value T) *T { return &value }

// given is nil for the empty text.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
