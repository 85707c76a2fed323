package lifecycle

import (
	"context"

	"ocr/db"
	"ocr/internal/artifact"
)

// roundRecord is the metadata of round_completed, shared with other programs.
type roundRecord struct {
	Verdict           string `json:"verdict"`
	BlockerCount      int64  `json:"blocker_count"`
	ShouldFixCount    int64  `json:"should_fix_count"`
	SuggestionCount   int64  `json:"suggestion_count"`
	ReviewerCount     int64  `json:"reviewer_count"`
	TotalFindingCount int64  `json:"total_finding_count"`
	Source            string `json:"source"`
}

// CompleteRound records the result of a review round: round-meta.json, the
// event round_completed, the phase complete, and the findings. It refuses an
// unsound payload (*artifact.Invalid), a session that is no review, and a
// round that is not the current one at synthesis (Invariant).
func CompleteRound(ctx context.Context, c Caller, in CompleteRequest) (CompleteResult, error) {
	round, err := artifact.ParseRound(in.Payload)
	if err != nil {
		return CompleteResult{}, err
	}
	counts := round.Counts()
	return c.complete(ctx, in, outcome{
		workflow: "review",
		document: round.Document(),
		warnings: round.Warnings(),
		facts: roundRecord{
			Verdict: round.Verdict, BlockerCount: counts.Blockers, ShouldFixCount: counts.ShouldFix,
			SuggestionCount: counts.Suggestions, ReviewerCount: counts.Reviewers,
			TotalFindingCount: counts.Findings, Source: "orchestrator",
		},
		metaFile:  artifact.RoundMeta,
		finalFile: artifact.RoundFinal,
		ingest: func(ctx context.Context, tx *db.Tx, to target) error {
			return ingestRound(ctx, tx, to, round)
		},
	})
}
