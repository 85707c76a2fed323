package lifecycle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
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
	// Changed is false when the same caller had begun it just so before, and
	// nothing happened since: it may not know that it succeeded.
	Changed bool
	// Branch is the one that the session was begun with.
	Branch string
	Outlook
}

// Begin starts a new session, or opens a closed or completed one again: in
// the next round or run when the current one is complete, else in the same; the
// branch stays the one that it was begun with.
// It refuses to reset a session whose current round or run is unfinished
// (Invariant), or complete and still in somebody else's lease, and a session of
// the other workflow (Usage). The same caller may repeat it while nothing else
// has happened.
func Begin(ctx context.Context, c Caller, in BeginRequest) (result BeginResult, err error) {
	link := c.chooseLink(in.DashboardUID)
	// An id that cannot be new may still stand in a database that is there.
	badID := project.CheckNewID(in.SessionID)
	var made *artifact.Dir
	var repeated bool
	var notes []string
	err = c.write(ctx, badID == nil, func(ctx context.Context, tx *db.Tx) error {
		clock := time.Now().UTC()
		at := stamp(clock)
		phases, err := loadPhases(ctx, tx.Queries, in.Workflow)
		if err != nil {
			return err
		}
		row, err := tx.StateGet(ctx, in.SessionID)
		phase, branch := phases.first(), in.Branch
		switch {
		case errors.Is(err, sql.ErrNoRows) && badID != nil:
			return badID
		case errors.Is(err, sql.ErrNoRows):
			made, err = c.createSession(ctx, tx, in, phases.first(), at)
		case err == nil:
			branch = row.Branch
			s := session{StateGetRow: row, trailing: c.trailing(), identity: c.identity()}
			if repeated, err = c.hasBegun(ctx, tx.Queries, s, in, link); err == nil && !repeated {
				phase, notes, err = c.reopen(ctx, tx, s, in, phases, clock)
			} else if repeated {
				phase = row.CurrentPhase
			}
			if err == nil {
				err = c.checkFolderFree(ctx, tx.Queries, row.ID, c.Project.SessionDir(row.SessionDir, row.ID), "")
			}
		}
		if err != nil {
			return err
		}
		if link != "" && !repeated {
			if err := c.linkProcess(ctx, tx, link, in.SessionID, at); err != nil {
				return err
			}
		}
		state, err := tx.CompletenessGet(ctx, in.SessionID)
		result = BeginResult{
			SessionID: in.SessionID, Workflow: in.Workflow, Phase: phase, Branch: branch,
			Round: state.CurrentRound, MapRun: state.CurrentMapRun, Completeness: state.CompletenessState,
			Changed: !repeated,
		}
		if err != nil {
			return err
		}
		caller := c
		caller.Lease = "" // a round or run that was just opened has none
		result.Outlook, err = caller.outlook(ctx, tx.Queries, in.SessionID, clock)
		return err
	})
	if badID != nil && isMissing(err) {
		return result, badID
	}
	if err == nil {
		for _, note := range notes {
			c.Notice(note)
		}
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
	dir := filepath.Clean(in.Dir)
	if in.Dir == "" {
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
	made, err := c.openFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := c.checkFolderFree(ctx, tx.Queries, in.SessionID, dir, ""); err != nil {
		return nil, errors.Join(err, made.Discard())
	}
	return made, nil
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

// hasBegun tells whether this very caller has begun the session, or opened it
// again, just so, and nothing has happened in it since. It is the same caller
// if its process row, unfinished, is the session's.
func (c Caller) hasBegun(ctx context.Context, q *gen.Queries, s session, in BeginRequest, link string) (bool, error) {
	sameRequest := s.Branch == in.Branch && s.WorkflowType == in.Workflow &&
		(in.Dir == "" || in.Dir == c.Project.SessionDir(s.SessionDir, s.ID))
	if link == "" || !sameRequest || s.Status != "active" || s.HasTerminalArtifact {
		return false, nil
	}
	rows, err := q.JournalUnfinished(ctx, &s.ID)
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(rows, func(row gen.JournalUnfinishedRow) bool { return row.AgentJournal.ID == link }) {
		return false, nil
	}
	last, err := q.SessionLastActivity(ctx, s.ID)
	return last.IsJustOpened, err
}

// reopen starts a session again that is closed, or whose current round or run
// is complete. It returns the phase in which it goes on, and what there is to
// say to people.
func (c Caller) reopen(ctx context.Context, tx *db.Tx, s session, in BeginRequest, phases phases, clock time.Time) (phase string, notes []string, err error) {
	at := stamp(clock)
	if err := c.checkReopening(ctx, tx.Queries, s, in, clock); err != nil {
		return "", nil, err
	}
	last, err := tx.EventLastCompleted(ctx, s.ID, s.terminalEvent())
	if err != nil {
		return "", nil, err
	}
	if in.Branch != s.Branch {
		notes = append(notes, fmt.Sprintf("note: session %q stays on the branch %q that it was begun with, not %q", s.ID, s.Branch, in.Branch))
	}
	round, run, grew := s.CurrentRound, s.CurrentMapRun, last >= s.number()
	if grew && last == math.MaxInt64 {
		return "", nil, s.noNext()
	}
	phase = phases.first()
	switch {
	case grew && s.WorkflowType == "map":
		run = last + 1
	case grew:
		round = last + 1
	default:
		interrupted, err := s.interruptedPhase(ctx, tx, phases)
		if err != nil {
			return "", nil, err
		}
		if interrupted != "" {
			phase = interrupted
			notes = append(notes, fmt.Sprintf("note: another program closed session %q when it looked at its files (session_synced), while %s %d was under way: it goes on in phase %s",
				s.ID, s.unit(), s.number(), phase))
		}
	}
	event := gen.EventAppendParams{
		SessionID: s.ID, EventType: "session_resumed",
		Phase: &phase, PhaseNumber: ptr(phases.number(phase)), Round: &round, Now: at,
	}
	_, err = tx.EventUnopened(ctx, s.ID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", nil, err
	}
	if grew || err == nil {
		// The log has not opened this round or run.
		event.EventType = "round_started"
		if s.WorkflowType == "map" {
			event.Metadata = runMetadata(run)
		}
	}
	if err := appendEvent(ctx, tx, event); err != nil {
		return "", nil, err
	}
	return phase, notes, s.rowChanged(tx.SessionReopen(ctx, gen.SessionReopenParams{
		ID: s.ID, CurrentPhase: phase, PhaseNumber: phases.number(phase), CurrentRound: round, CurrentMapRun: run, Now: at,
	}))
}

// checkReopening refuses a session of the other workflow, and one that is open
// and not complete, or complete and in somebody else's lease.
func (c Caller) checkReopening(ctx context.Context, q *gen.Queries, s session, in BeginRequest, clock time.Time) error {
	if err := s.checkWorkflow(); err != nil {
		return err
	}
	if s.WorkflowType != in.Workflow {
		return refuse(Usage, KindWrongWorkflow, s.command("status"),
			"session %q is a %s, not a %s: the %s needs another session id", s.ID, s.WorkflowType, in.Workflow, in.Workflow)
	}
	if s.Status == "active" && !s.HasTerminalArtifact {
		return refuse(Invariant, KindUnfinished, s.command("status"),
			"session %q is active in phase %s and its %s %d is not complete: carry it on, it is not started over",
			s.ID, s.CurrentPhase, s.unit(), s.number())
	}
	if s.Status == "active" {
		if _, err := c.checkLease(ctx, q, s, clock); err != nil {
			return err
		}
	}
	return nil
}

// interruptedPhase is the phase of a round or run that was under way when
// another program closed the session because of its files, not as the first
// that the log knows of it; empty where it was closed for another reason.
func (s session) interruptedPhase(ctx context.Context, tx *db.Tx, phases phases) (string, error) {
	closing, err := tx.EventClosing(ctx, s.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil || s.Status != "closed" || s.HasTerminalArtifact || closing.EventType != "session_synced" || !closing.HasHistory {
		return "", err
	}
	for _, phase := range []string{closing.PhaseBefore, s.CurrentPhase} {
		if phases.number(phase) != 0 && phase != phaseComplete {
			return phase, nil
		}
	}
	return phases.first(), nil
}

// runMetadata names the map run that a round_started event opens: its round
// column always holds the review round.
func runMetadata(run int64) *string { return ptr(fmt.Sprintf(`{"map_run":%d}`, run)) }
