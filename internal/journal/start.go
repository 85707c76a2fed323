package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/history"
	"ocr/internal/lifecycle"
)

// StartRequest describes a process that begins its work. What is empty or nil
// is not known.
type StartRequest struct {
	// Workflow is the session; empty for the one that every verb would pick.
	Workflow string
	Vendor   string
	Persona  string
	Instance *int64
	// Name is for people; empty for the persona and the instance, if both are
	// known.
	Name  string
	Model string
	Phase string
	// PID is a process of this machine.
	PID  *int64
	Note string
}

// Started names the new row.
type Started struct {
	ID        string
	SessionID string
}

// Start records a process, and how to tell it from a later one with the same
// id. Before that it ends the rows of processes that are provably dead. It
// refuses on a closed session (Invariant).
func Start(ctx context.Context, c lifecycle.Caller, in StartRequest) (Started, error) {
	uid, err := uuid.NewRandom()
	if err != nil {
		return Started{}, fmt.Errorf("making a name for the process: %w", err)
	}
	identity := identify(c, in)
	var session lifecycle.Chosen
	var swept SweepResult
	var entries []history.Entry
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		clock := time.Now()
		at := stamp(clock)
		var err error
		if session, err = c.Resolve(ctx, tx.Queries, in.Workflow); err != nil {
			return err
		}
		if session.Closed {
			return refuse(lifecycle.Invariant, lifecycle.KindClosed, session.Reopen,
				"session %q is closed: no process can begin work for it", session.ID)
		}
		if swept, entries, err = sweep(ctx, c, tx, clock); err != nil {
			return err
		}
		row := in.row(session.ID, uid.String(), at)
		identity.ExecutionID, err = tx.ExecutionInsert(ctx, row)
		if err := db.ExpectRow("the new process", err); err != nil {
			return err
		}
		if err := db.ExpectRows(1, "the identity of the new process")(tx.ExecutionIdentify(ctx, identity)); err != nil {
			return err
		}
		entry, err := history.Collect(ctx, tx.Queries, identity.ExecutionID)
		entries = append(entries, entry...)
		return err
	})
	if err != nil {
		return Started{}, err
	}
	c.Tell(session)
	swept.tell(c)
	c.Record(ctx, entries)
	return Started{ID: uid.String(), SessionID: session.ID}, nil
}

// row is the request as a row of the journal. Persona and instance are part of
// the command only together.
func (in StartRequest) row(sessionID, uid, at string) gen.ExecutionInsertParams {
	row := gen.ExecutionInsertParams{
		UID: &uid, Command: "session-instance", WorkflowID: &sessionID, Vendor: &in.Vendor,
		Persona: given(in.Persona), InstanceIndex: in.Instance, Name: given(in.Name),
		ResolvedModel: given(in.Model), PID: in.PID, Notes: given(in.Note), Now: at,
	}
	if in.Persona != "" && in.Instance != nil {
		who := fmt.Sprintf("%s-%d", in.Persona, *in.Instance)
		row.Command += ":" + who
		if in.Name == "" {
			row.Name = &who
		}
	}
	return row
}

// identify says which process the row means.
func identify(c lifecycle.Caller, in StartRequest) gen.ExecutionIdentifyParams {
	place := c.Facts().Here()
	identity := gen.ExecutionIdentifyParams{
		Machine: given(place.Machine), Host: given(place.Host), BootID: given(place.BootID),
		PIDSpace: given(place.PIDSpace), TimeSpace: given(place.TimeSpace), PID: in.PID, Phase: given(in.Phase),
	}
	if in.PID == nil {
		return identity
	}
	if start := c.Facts().Look(*in.PID).Start; start.Ms != 0 {
		identity.PIDStartedMs = &start.Ms
		if start.Ticks != 0 {
			identity.PIDStartedTicks = &start.Ticks
		}
	}
	return identity
}
