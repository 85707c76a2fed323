package doctor

import (
	"context"
	"time"

	"ocr/db"
	"ocr/internal/process"
)

// judged are the processes that gave no sign of life for longer than the
// threshold, by what a look at them says.
type judged struct {
	dead, stalled, untold []Row
}

// judge looks at every process that may be dead. Only proof makes it so.
func (x *exam) judge(ctx context.Context) (judged, error) {
	settings, _ := x.project.Runtime(x.Getenv)
	var found judged
	rows, err := x.reader.JournalSweep(ctx, settings.HeartbeatSeconds)
	if err != nil {
		return found, db.Classify(x.path, err)
	}
	for _, row := range rows {
		p := row.AgentJournal
		r := Row{"id": p.ID, "session_id": p.WorkflowID}
		if p.PID != nil {
			r["pid"] = *p.PID
		}
		if p.HeartbeatAgeSeconds == nil {
			continue // data.times names it
		}
		r["heartbeat_age_seconds"] = *p.HeartbeatAgeSeconds
		verdict := process.Judge(process.System{}, p, time.Duration(settings.HeartbeatSeconds)*time.Second)
		if verdict.Reason != "" {
			r["reason"] = verdict.Reason
		}
		switch verdict.State {
		case process.Dead:
			found.dead = append(found.dead, r)
		case process.Living:
			found.stalled = append(found.stalled, r)
		default:
			found.untold = append(found.untold, r)
		}
	}
	silent, err := x.all(ctx, "facts/silent.sql")
	for _, r := range silent {
		if r.number("heartbeat_age_seconds") > settings.HeartbeatSeconds {
			r["reason"] = "no process id is recorded"
			found.untold = append(found.untold, r)
		}
	}
	return found, err
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
