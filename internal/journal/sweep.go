package journal

import (
	"context"
	"fmt"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/history"
	"ocr/internal/lifecycle"
	"ocr/internal/process"
)

// SweepRequest says how to sweep.
type SweepRequest struct {
	// DryRun finds out what would be ended, and changes nothing.
	DryRun bool
}

// SweepResult names the processes that a sweep ended, or would end, and those
// about which nothing can be proved. No list is ever nil.
type SweepResult struct {
	// Orphaned are dead: there is proof.
	Orphaned []Swept
	// Ended had a supervisor that is dead, and ended with it.
	Ended []Swept
	// Unknown gave no sign of life for long; whether they live cannot be told
	// from here.
	Unknown []Swept
	// Unreadable have a heartbeat that is no time.
	Unreadable []Swept
}

// Swept is one process that a sweep came upon.
type Swept struct {
	// ExecutionID is the number of its row, ID the name for callers.
	ExecutionID int64
	ID          string
	// SessionID is empty where it works for none.
	SessionID string
	Name      string
	Kind      string
	PID       *int64
	// Reason is why, in a few words for people.
	Reason string
}

// Sweep ends the rows of processes that are provably dead, and, where a dead
// one is a supervisor, the other unfinished ones of its session. The caller's
// own row is left alone: its caller lives. Old age is no proof. Whatever is
// ended was judged inside the one transaction that ends it; with nothing to
// end there is none. Without a database there is nothing to sweep.
func Sweep(ctx context.Context, c lifecycle.Caller, in SweepRequest) (SweepResult, error) {
	none := newPlan().SweepResult
	if !in.DryRun {
		if err := c.Upgrade(ctx); db.KindOf(err) == db.KindNoDatabase {
			return none, nil
		} else if err != nil {
			return none, err
		}
	}
	at := time.Now()
	var found plan
	err := c.Read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		found, err = judge(ctx, c, r.Queries, at)
		return err
	})
	switch {
	case db.KindOf(err) == db.KindNoDatabase:
		return none, nil
	case err != nil, in.DryRun, len(found.Orphaned) == 0:
		return found.SweepResult, err
	}
	var result SweepResult
	var entries []history.Entry
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		var err error
		result, entries, err = sweep(ctx, c, tx, time.Now())
		return err
	})
	if err != nil {
		return none, err
	}
	c.Record(ctx, entries)
	return result, nil
}

// plan is what a sweep finds.
type plan struct {
	SweepResult
	dead      []gen.AgentJournal
	abandoned []abandoned
}

// abandoned is a session whose supervisor is dead.
type abandoned struct {
	session string
	// self is the caller's own process of it, which is spared; or empty.
	self string
}

func newPlan() plan {
	return plan{SweepResult: SweepResult{Orphaned: []Swept{}, Ended: []Swept{}, Unknown: []Swept{}, Unreadable: []Swept{}}}
}

// judge looks at every process that may be dead. The caller's own is spared:
// its caller lives.
func judge(ctx context.Context, c lifecycle.Caller, q *gen.Queries, at time.Time) (plan, error) {
	found := newPlan()
	running, err := c.Running(ctx, q, at)
	if err != nil {
		return found, err
	}
	spared := map[int64]bool{}
	for _, p := range running {
		switch {
		case p.PID == nil, p.Self:
			// Nothing can ever be proved about it, or it is who asks.
		case p.State == process.Dead:
			spared[p.ExecutionID] = true
			found.dead = append(found.dead, p.AgentJournal)
			found.Orphaned = append(found.Orphaned, swept(p.AgentJournal, p.Reason))
		case p.HeartbeatEpoch == nil:
			found.Unreadable = append(found.Unreadable, swept(p.AgentJournal, "its heartbeat is not a valid timestamp"))
		case p.State == process.Unknown:
			found.Unknown = append(found.Unknown, swept(p.AgentJournal, p.Reason))
		}
	}
	for _, p := range found.dead {
		if p.Kind != "supervisor" || p.WorkflowID == "" {
			continue
		}
		others, err := c.Unfinished(ctx, q, p.WorkflowID, at)
		if err != nil {
			return found, err
		}
		abandoned := abandoned{session: p.WorkflowID}
		for _, other := range others {
			if other.Self {
				abandoned.self = other.ID
			}
			if spared[other.ExecutionID] || other.Self {
				continue
			}
			spared[other.ExecutionID] = true
			found.Ended = append(found.Ended, swept(other.AgentJournal, "its supervisor "+p.ID+" is dead"))
		}
		found.abandoned = append(found.abandoned, abandoned)
	}
	return found, nil
}

func swept(row gen.AgentJournal, reason string) Swept {
	s := Swept{
		ExecutionID: row.ExecutionID, ID: row.ID, SessionID: row.WorkflowID,
		Kind: row.Kind, PID: row.PID, Reason: reason,
	}
	if row.Name != nil {
		s.Name = *row.Name
	}
	return s
}

// sweep judges and ends inside one transaction.
func sweep(ctx context.Context, c lifecycle.Caller, tx *db.Tx, clock time.Time) (SweepResult, []history.Entry, error) {
	found, err := judge(ctx, c, tx.Queries, clock)
	if err != nil {
		return found.SweepResult, nil, err
	}
	at := stamp(clock)
	var ids []int64
	for i, p := range found.dead {
		// What was proved was read in this transaction: the row is as it was.
		err := changed(p.ID)(tx.ExecutionOrphan(ctx, gen.ExecutionOrphanParams{
			ID: p.ExecutionID, ExitCode: lifecycle.ExitFoundDead, PID: p.PID, LastHeartbeatAt: p.LastHeartbeatAt, Now: &at,
			Note: ptr("found dead at " + at + ": " + found.Orphaned[i].Reason),
		}))
		if err != nil {
			return found.SweepResult, nil, err
		}
		ids = append(ids, p.ExecutionID)
	}
	var ended []int64
	for _, a := range found.abandoned {
		with, err := tx.ExecutionCloseWithSession(ctx, gen.ExecutionCloseWithSessionParams{
			WorkflowID: &a.session, Caller: a.self, ExitCode: lifecycle.ExitClosed, Now: &at,
			Note: ptr("ended at " + at + ": its supervisor was found dead"),
		})
		if err != nil {
			return found.SweepResult, nil, err
		}
		ended = append(ended, with...)
	}
	err = db.ExpectRows(int64(len(found.Ended)), "the end of the processes of dead supervisors")(int64(len(ended)), nil)
	if err != nil {
		return found.SweepResult, nil, err
	}
	ids = append(ids, ended...)
	entries, err := history.Collect(ctx, tx.Queries, ids...)
	return found.SweepResult, entries, err
}

// tell says on the side what a sweep did.
func (r SweepResult) tell(c lifecycle.Caller) {
	for _, p := range r.Orphaned {
		c.Notice(fmt.Sprintf("note: process %s was found dead: %s", p.ID, p.Reason))
	}
	for _, p := range r.Ended {
		c.Notice(fmt.Sprintf("note: process %s was ended: %s", p.ID, p.Reason))
	}
}
