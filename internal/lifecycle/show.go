package lifecycle

import (
	"context"
	"errors"
	"syscall"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
)

// Overview is everything that is known about one session.
type Overview struct {
	Session gen.StateGetRow
	Verdict Verdict
	Events  []gen.EventListRow
	Timings []gen.EventPhaseTimingsRow
	// Dir is the absolute folder of the session where the project stands now.
	Dir       string
	Artifacts artifact.Inventory
}

// Show reads one session, its whole log and what lies on disk for it. It
// returns nil when the caller named none and none is active.
func Show(ctx context.Context, c Caller, id string) (*Overview, error) {
	var s session
	var view Overview
	err := c.read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		if s, err = c.resolve(ctx, r.Queries, id); err != nil {
			return err
		}
		view = Overview{Session: s.StateGetRow}
		if view.Verdict, err = s.verdict(ctx, r.Queries); err != nil {
			return err
		}
		if view.Events, err = r.EventList(ctx, s.ID); err != nil {
			return err
		}
		view.Timings, err = r.EventPhaseTimings(ctx, s.ID)
		return err
	})
	var no *Error
	if id == "" && (isMissing(err) || errors.As(err, &no) && no.Kind == KindNoActiveSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	view.Dir = c.Project.SessionDir(s.SessionDir, s.ID)
	view.Artifacts, err = artifact.Listing(view.Dir)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENAMETOOLONG) {
		view.Artifacts = artifact.Inventory{Rounds: []artifact.RoundFiles{}, MapRuns: []artifact.MapFiles{}}
		c.Notice("warning: the stored folder of the session cannot be one, so no file of it is listed: " + err.Error())
	} else if err != nil {
		return nil, err
	}
	c.tell(s)
	return &view, nil
}
