package lifecycle

import (
	"context"
	"path/filepath"
	"time"

	"ocr/db/gen"
	"ocr/internal/artifact"
)

// Outlook is what a verb that moves a session says beside its own result, so
// that its caller need not ask for the status.
type Outlook struct {
	// SessionDir is the absolute path of the session's folder, and ArtifactDir
	// that of its current round or run; it need not exist yet.
	SessionDir  string
	ArtifactDir string
	// Next is what the caller does now, as one who works on the session.
	Next NextAction
}

// outlook reads a session as the verb leaves it.
func (c Caller) outlook(ctx context.Context, q *gen.Queries, id string, at time.Time) (Outlook, error) {
	s, err := c.load(ctx, q, id, "")
	if err != nil {
		return Outlook{}, err
	}
	next, err := c.nextAction(ctx, q, s, at, true)
	if err != nil {
		return Outlook{}, err
	}
	dir := c.Project.SessionDir(s.SessionDir, s.ID)
	part := artifact.RoundDir(s.CurrentRound)
	if s.WorkflowType == "map" {
		part = artifact.MapDir(s.CurrentMapRun)
	}
	return Outlook{SessionDir: dir, ArtifactDir: filepath.Join(dir, filepath.FromSlash(part)), Next: next}, nil
}
