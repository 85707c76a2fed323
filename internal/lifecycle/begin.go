package lifecycle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
	"ocr/internal/project"
)

// BeginRequest names the session to begin, or to open again.
type BeginRequest struct {
	SessionID string
	Branch    string
	// Workflow is "review" or "map".
	Workflow string
	// Dir is the absolute folder for artifacts; empty for the one below .ocr/sessions.
	Dir string
	// DashboardUID names the process row to tie to the session; empty for
	// the caller's own row, or the only live spawn marker.
	DashboardUID string
}

// BeginResult is where the session stands.
type BeginResult struct {
	SessionID    string
	Workflow     string
	Round        int64
	MapRun       int64
	Phase        string
	Completeness string
	Outlook
}

// Begin starts a new session, or opens a closed or completed one again: in
// the next round or run when the current one is complete, else in the same.
// It refuses to reset a session whose current round or run is unfinished
// (Invariant), and a session of the other workflow (Usage).
func Begin(ctx context.Context, c Caller, in BeginRequest) (result BeginResult, err error) {
	link := c.chooseLink(in.DashboardUID)
	// An id that cannot be new may still stand in a database that is there.
	badID := project.CheckNewID(in.SessionID)
	var made *artifact.Dir
	err = c.write(ctx, badID == nil, func(ctx context.Context, tx *db.Tx) error {
		clock := time.Now().UTC()
		at := stamp(clock)
		phases, err := loadPhases(ctx, tx.Queries, in.Workflow)
		if err != nil {
			return err
		}
		row, err := tx.StateGet(ctx, in.SessionID)
		switch {
		case errors.Is(err, sql.ErrNoRows) && badID != nil:
			return badID
		case errors.Is(err, sql.ErrNoRows):
			made, err = c.createSession(ctx, tx, in, phases.first(), at)
		case err == nil:
			err = reopen(ctx, tx, session{StateGetRow: row, trailing: c.trailing()}, in, phases.first(), at)
		}
		if err != nil {
			return err
		}
		if link != "" {
			if err := c.linkProcess(ctx, tx, link, in.SessionID, at); err != nil {
				return err
			}
		}
		state, err := tx.CompletenessGet(ctx, in.SessionID)
		result = BeginResult{
			SessionID: in.SessionID, Workflow: in.Workflow, Phase: phases.first(),
			Round: state.CurrentRound, MapRun: state.CurrentMapRun, Completeness: state.CompletenessState,
		}
		if err != nil {
			return err
		}
		result.Outlook, err = c.outlook(ctx, tx.Queries, in.SessionID, clock)
		return err
	})
	if badID != nil && isMissing(err) {
		return result, badID
	}
	if made != nil {
		if err != nil {
			return result, errors.Join(err, made.Discard())
		}
		if err := made.Close(); err != nil {
			// The session stands: this is for people to know, not a failure.
			c.Notice("warning: closing the folder of the session: " + err.Error())
		}
	}
	return result, err
}

// createSession writes the row, its first event and its folder.
func (c Caller) createSession(ctx context.Context, tx *db.Tx, in BeginRequest, phase, at string) (*artifact.Dir, error) {
	dir := in.Dir
	if dir == "" {
		dir = filepath.Join(c.Project.Sessions(), in.SessionID)
	}
	if err := c.checkUnlogged(ctx, tx, in.SessionID); err != nil {
		return nil, err
	}
	err := rowOf(in.SessionID)(tx.SessionInsert(ctx, gen.SessionInsertParams{
		ID: in.SessionID, Branch: in.Branch, WorkflowType: in.Workflow, CurrentPhase: phase,
		SessionDir: dir, Now: at,
	}))
	if err != nil {
		return nil, err
	}
	err = appendEvent(ctx, tx, gen.EventAppendParams{
		SessionID: in.SessionID, EventType: "session_created",
		Phase: &phase, PhaseNumber: ptr(int64(1)), Round: ptr(int64(1)), Now: at,
	})
	if err != nil {
		return nil, err
	}
	return artifact.OpenDir(c.Project.Dir(), dir)
}

// checkUnlogged refuses (Invariant) to make a row for an id that the log knows:
// events of a row that was lost would count for the new session.
func (c Caller) checkUnlogged(ctx context.Context, tx *db.Tx, id string) error {
	logged, err := tx.EventAny(ctx, id)
	if err != nil || !logged {
		return err
	}
	return refuse(Invariant, KindLogWithoutRow, "ocr doctor --check data.foreign_keys"+c.elsewhere(),
		"the log has events of session %q, and its row is gone: the log is kept, and that id is not used for another session; choose another one", id)
}

// reopen starts a session again that is closed, or whose current round or run
// is complete.
func reopen(ctx context.Context, tx *db.Tx, s session, in BeginRequest, phase, at string) error {
	if err := s.checkWorkflow(); err != nil {
		return err
	}
	if s.WorkflowType != in.Workflow {
		return refuse(Usage, KindWrongWorkflow, fmt.Sprintf("ocr state begin --workflow-type %s, or another --session-id", s.WorkflowType),
			"session %q is a %s, not a %s", s.ID, s.WorkflowType, in.Workflow)
	}
	if s.Status == "active" && !s.HasTerminalArtifact {
		return refuse(Invariant, KindUnfinished, s.command("status"),
			"session %q is active in phase %s and its %s %d is not complete: carry it on, it is not started over",
			s.ID, s.CurrentPhase, s.unit(), s.number())
	}
	last, err := tx.EventLastCompleted(ctx, s.ID, s.terminalEvent())
	if err != nil {
		return err
	}
	round, run, grew := s.CurrentRound, s.CurrentMapRun, last >= s.number()
	event := gen.EventAppendParams{
		SessionID: s.ID, EventType: "session_resumed",
		Phase: &phase, PhaseNumber: ptr(int64(1)), Now: at,
	}
	if grew && last == math.MaxInt64 {
		return s.noNext()
	}
	if grew {
		event.EventType = "round_started"
		if s.WorkflowType == "map" {
			run = last + 1
			event.Metadata = runMetadata(run)
		} else {
			round = last + 1
		}
	}
	event.Round = &round
	if err := appendEvent(ctx, tx, event); err != nil {
		return err
	}
	return s.rowChanged(tx.SessionReopen(ctx, gen.SessionReopenParams{
		ID: s.ID, CurrentPhase: phase, CurrentRound: round, CurrentMapRun: run, Now: at,
	}))
}

// runMetadata names the map run that a round_started event opens: its round
// column always holds the review round.
func runMetadata(run int64) *string { return ptr(fmt.Sprintf(`{"map_run":%d}`, run)) }
