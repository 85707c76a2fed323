package doctor

import (
	"context"

	"ocr/db"
	"ocr/internal/journal"
	"ocr/internal/process"
)

// judged are the processes that gave no sign of life for longer than the
// threshold, by what a look at them says.
type judged struct {
	dead, stalled, untold []Row
}

// judge looks at every process that may be dead, once for each view.
func (x *exam) judge(ctx context.Context) (judged, error) {
	if x.judged != nil {
		return *x.judged, nil
	}
	var found judged
	silent, err := journal.ReadSilent(ctx, x.caller, x.reader.Queries)
	if err != nil {
		return found, db.Classify(x.path, err)
	}
	for _, p := range silent {
		if p.HeartbeatAgeSeconds == nil {
			continue // data.times names it
		}
		r := Row{"id": p.ID, "session_id": p.WorkflowID, "heartbeat_age_seconds": *p.HeartbeatAgeSeconds}
		if p.Name != nil {
			r["name"] = *p.Name
		}
		if p.PID != nil {
			r["pid"] = *p.PID
		}
		if p.Verdict.Reason != "" {
			r["reason"] = p.Verdict.Reason
		}
		switch p.Verdict.State {
		case process.Dead:
			found.dead = append(found.dead, r)
		case process.Living:
			found.stalled = append(found.stalled, r)
		default:
			found.untold = append(found.untold, r)
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
