package journal

import (
	"context"

	"ocr/db/gen"
	"ocr/internal/lifecycle"
	"ocr/internal/process"
)

// Silent is an unfinished process that gave no sign of life for longer than
// the threshold, or whose heartbeat is no time, and what a look at it says.
type Silent struct {
	gen.AgentJournal
	Verdict process.Verdict
}

// ReadSilent looks at every silent process, except the caller's own: its
// caller lives.
func ReadSilent(ctx context.Context, c lifecycle.Caller, q *gen.Queries) ([]Silent, error) {
	rows, err := q.JournalSilent(ctx, c.Runtime.HeartbeatSeconds)
	if err != nil {
		return nil, err
	}
	var silent []Silent
	for _, row := range rows {
		p := row.AgentJournal
		if c.ExecutionUID == "" || p.ID != c.ExecutionUID {
			silent = append(silent, Silent{p, c.Judge(p)})
		}
	}
	return silent, nil
}
