package lifecycle

import (
	"context"
	"time"

	"ocr/db"
)

// Status is where a session stands and what to do next.
type Status struct {
	SessionID           string
	WorkflowType        string
	Status              string
	CurrentPhase        string
	PhaseNumber         int64
	CurrentRound        int64
	CurrentMapRun       int64
	CompletenessState   string
	HasTerminalArtifact bool
	MarkedClosed        bool
	DependentsSettled   bool
	Next                NextAction
	StartedAt           string
	UpdatedAt           string
	// RoundStartedAt is when the current round was opened; nil for maps, and
	// when the log does not tell.
	RoundStartedAt *string
	// MapStartedAt is the same for the current run of a map.
	MapStartedAt *string
	Verdict
}

// GetStatus reads the state of a session. It changes nothing.
func GetStatus(ctx context.Context, c Caller, id string) (status Status, err error) {
	var s session
	err = c.read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		if s, err = c.resolve(ctx, r.Queries, id); err != nil {
			return err
		}
		verdict, err := s.verdict(ctx, r.Queries)
		if err != nil {
			return err
		}
		next, err := c.nextAction(ctx, r.Queries, s, time.Now().UTC(), false)
		status = Status{
			SessionID: s.ID, WorkflowType: s.WorkflowType, Status: s.Status,
			CurrentPhase: s.CurrentPhase, PhaseNumber: s.PhaseNumber,
			CurrentRound: s.CurrentRound, CurrentMapRun: s.CurrentMapRun,
			CompletenessState: s.CompletenessState, HasTerminalArtifact: s.HasTerminalArtifact,
			MarkedClosed: s.MarkedClosed, DependentsSettled: s.DependentsSettled, Next: next,
			StartedAt: s.StartedAt, UpdatedAt: s.UpdatedAt,
			RoundStartedAt: s.RoundStartedAt, MapStartedAt: s.MapStartedAt, Verdict: verdict,
		}
		return err
	})
	if err == nil {
		c.tell(s)
	}
	return status, err
}
