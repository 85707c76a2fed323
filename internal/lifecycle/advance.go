package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ocr/db"
	"ocr/db/gen"
)

// AdvanceRequest names the phase to enter.
type AdvanceRequest struct {
	SessionID string
	Phase     string
	// Round is the round that the phase belongs to, 0 for the current one.
	// Reviews only.
	Round int64
	// MapRun is the run that the phase belongs to, 0 for the current one.
	// Maps only.
	MapRun int64
}

// AdvanceResult is where the session stands.
type AdvanceResult struct {
	SessionID   string
	Workflow    string
	Phase       string
	PhaseNumber int64
	Round       int64
	MapRun      int64
	Outlook
}

// Advance moves a session to the next phase, lets it enter its own again, or
// starts the next round or run in the first one. Every other move is refused
// (Transition); so is any on a closed session, and complete, which only
// CompleteRound and CompleteMap enter (Invariant).
func Advance(ctx context.Context, c Caller, in AdvanceRequest) (result AdvanceResult, err error) {
	var s session
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) error {
		clock := time.Now().UTC()
		at := stamp(clock)
		var err error
		if s, err = c.resolve(ctx, tx.Queries, in.SessionID); err != nil {
			return err
		}
		phases, err := loadPhases(ctx, tx.Queries, s.WorkflowType)
		if err != nil {
			return err
		}
		// Whose round it is comes first: who lost it is behind by a phase or two,
		// and must not be told how to go on.
		held, err := c.checkLease(ctx, tx.Queries, s, clock)
		if err != nil {
			return err
		}
		next, err := s.checkMove(phases, in)
		if err != nil {
			return err
		}
		result = AdvanceResult{
			SessionID: s.ID, Workflow: s.WorkflowType, Phase: in.Phase, PhaseNumber: phases.number(in.Phase),
			Round: s.CurrentRound, MapRun: s.CurrentMapRun,
		}
		opened := gen.EventAppendParams{
			SessionID: s.ID, EventType: "round_started",
			Phase: &result.Phase, PhaseNumber: &result.PhaseNumber, Round: &result.Round, Now: at,
		}
		if s.WorkflowType == "map" {
			result.MapRun = next
			opened.Metadata = runMetadata(next)
		} else {
			result.Round = next
		}
		moved := opened
		moved.EventType, moved.Metadata = "phase_transition", held.mark()
		if err := openUnlogged(ctx, tx, s.ID, at); err != nil {
			return err
		}
		if err := appendEvent(ctx, tx, moved); err != nil {
			return err
		}
		if next != s.number() {
			if err := appendEvent(ctx, tx, opened); err != nil {
				return err
			}
			c = c.withoutLease(held, s)
		}
		err = s.rowChanged(tx.SessionMove(ctx, gen.SessionMoveParams{
			ID: s.ID, CurrentPhase: result.Phase, PhaseNumber: result.PhaseNumber,
			CurrentRound: result.Round, CurrentMapRun: result.MapRun, Now: at,
		}))
		if err != nil {
			return err
		}
		result.Outlook, err = c.outlook(ctx, tx.Queries, s.ID, clock)
		return err
	})
	if err == nil {
		c.tell(s)
	}
	return result, err
}

// checkMove returns the round or run that the session is in after the move.
func (s session) checkMove(phases phases, in AdvanceRequest) (int64, error) {
	flag := s.workflow().numberFlag
	next, foreign := in.Round, in.MapRun
	if s.WorkflowType == "map" {
		next, foreign = foreign, next
	}
	if foreign != 0 {
		return 0, refuse(Usage, KindWrongNumberFlag, "use "+flag,
			"session %q is a %s: its %ss are chosen with %s", s.ID, s.WorkflowType, s.unit(), flag)
	}
	if s.Status == "closed" {
		return 0, refuse(Invariant, KindClosed, s.beginAgain(),
			"session %q is closed; it moves again only after it is begun again", s.ID)
	}
	to := phases.number(in.Phase)
	if to == 0 {
		return 0, refuse(Transition, KindUnknownPhase, "the phases of a "+s.WorkflowType+" are "+strings.Join(phases, ", "),
			"a %s has no phase %q", s.WorkflowType, in.Phase)
	}
	if next != 0 && next != s.number() {
		return next, s.checkOpening(phases, in.Phase, next, flag)
	}
	from := phases.number(s.CurrentPhase)
	switch {
	case in.Phase == s.CurrentPhase:
		return s.number(), nil
	case from != 0 && to == from+1 && in.Phase == phaseComplete:
		verb := s.workflow().verb
		return 0, refuse(Invariant, KindCompleteByVerb, s.command(verb, "--stdin"),
			"the phase complete is entered by ocr state %s with the result of the %s, not by advance", verb, s.unit())
	case from != 0 && to == from+1:
		return s.number(), nil
	case s.CurrentPhase == phaseComplete && to == 1 && !s.hasNext():
		return 0, s.noNext()
	case s.CurrentPhase == phaseComplete && to == 1:
		return 0, refuse(Transition, KindIllegalMove, s.command("advance", "--phase", phases.first(), fmt.Sprintf("%s=%d", flag, s.number()+1)),
			"%s %d of session %q is complete; the next one is opened with %s", s.unit(), s.number(), s.ID, flag)
	}
	hint := s.command("status")
	if rest := phases.after(s.CurrentPhase); from != 0 && len(rest) > 1 {
		hint = s.command("advance", "--phase", rest[0])
	}
	return 0, refuse(Transition, KindIllegalMove, hint,
		"session %q cannot go from phase %s to %s", s.ID, s.CurrentPhase, in.Phase)
}

// checkOpening holds the opening of a round or run to the next number and the
// first phase.
func (s session) checkOpening(phases phases, phase string, next int64, flag string) error {
	if !s.hasNext() {
		return s.noNext()
	}
	if next != s.number()+1 {
		return refuse(Transition, KindIllegalNumber, s.command("status"),
			"session %q is in %s %d: %s takes that number, or %d for the next one, not %d",
			s.ID, s.unit(), s.number(), flag, s.number()+1, next)
	}
	if phase != phases.first() {
		return refuse(Transition, KindIllegalMove, s.command("status"),
			"a new %s starts in phase %s, not in %s; without %s the session stays in %s %d",
			s.unit(), phases.first(), phase, flag, s.unit(), s.number())
	}
	return nil
}

// beginAgain is the command that opens a closed session again.
func (s session) beginAgain() string {
	return commandLine(s.beginAgainArgv())
}

func (s session) beginAgainArgv() []string {
	s.identity = nil // a session that is opened again has no lease
	return s.argv("begin", "--branch="+s.Branch, "--workflow-type="+s.WorkflowType)
}
