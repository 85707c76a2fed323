package doctor

import (
	"context"
	"time"

	"ocr/db"
	"ocr/internal/process"
)

// judged are the unfinished processes that somebody should know of, by what
// is known of their life.
type judged struct {
	dead, stalled, unknown []Row
}

// judge looks at every unfinished process, once for each view.
func (x *exam) judge(ctx context.Context) (judged, error) {
	if x.judged != nil {
		return *x.judged, nil
	}
	var found judged
	running, err := x.caller.Running(ctx, x.reader.Queries, time.Now())
	if err != nil {
		return found, db.Classify(x.path, err)
	}
	for _, p := range running {
		if p.Self {
			continue
		}
		r := Row{"id": p.ID}
		if p.WorkflowID != "" {
			r["session_id"] = p.WorkflowID
		}
		if p.HeartbeatAge != nil {
			r["heartbeat_age_seconds"] = *p.HeartbeatAge
		}
		if p.Name != nil {
			r["name"] = *p.Name
		}
		if p.PID != nil {
			r["pid"] = *p.PID
		}
		if p.Reason != "" {
			r["reason"] = p.Reason
		}
		switch {
		case p.State == process.Dead:
			found.dead = append(found.dead, r)
		case p.HeartbeatEpoch == nil, *p.HeartbeatAge < 0:
			// data.times names it.
		case p.State == process.Unknown:
			found.unknown = append(found.unknown, r)
		case p.Stalled:
			found.stalled = append(found.stalled, r)
		}
	}
	x.judged = &found
	return found, nil
}

// afterLook declares the run of a check of one part of what was judged.
func afterLook(next string, part func(judged) []Row) func(ctx context.Context, x *exam) result {
	return func(ctx context.Context, x *exam) result {
		found, err := x.judge(ctx)
		if err != nil {
			return unknown(err, "ocr session list --all")
		}
		rows := part(found)
		if len(rows) == 0 {
			return ok("none")
		}
		return warn(next, "%d", len(rows)).with(rows)
	}
}
