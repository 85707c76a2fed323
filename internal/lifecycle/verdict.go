package lifecycle

import (
	"context"

	"ocr/db/gen"
)

// Verdict is what the latest completed round of a review said, as its event
// recorded it. All are nil while no round is complete, and for a map; Verdict and
// BlockerCount also where the event does not say.
type Verdict struct {
	VerdictRound *int64
	Verdict      *string
	BlockerCount *int64
}

// verdict reads it; a map has none to look for.
func (s session) verdict(ctx context.Context, q *gen.Queries) (Verdict, error) {
	if s.WorkflowType != "review" {
		return Verdict{}, nil
	}
	row, err := q.VerdictGet(ctx, s.ID)
	if err != nil {
		return Verdict{}, err
	}
	return Verdict{row.Round, row.Verdict, row.BlockerCount}, nil
}
