package lifecycle

import (
	"context"
	"fmt"
	"path/filepath"

	"ocr/db"
	"ocr/db/gen"
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

// ingestRound stores a round for readers. Rows that stand for it already, read
// in by another program, keep their ids, and with them people's triage.
func ingestRound(ctx context.Context, tx *db.Tx, to target, round *artifact.Round) error {
	counts := round.Counts()
	roundID, err := tx.RoundUpsert(ctx, gen.RoundUpsertParams{
		SessionID: to.session.ID, RoundNumber: to.number, Verdict: &round.Verdict,
		BlockerCount: &counts.Blockers, SuggestionCount: &counts.Suggestions, ShouldFixCount: &counts.ShouldFix,
		FinalMdPath: to.final, ReviewerCount: &counts.Reviewers, TotalFindingCount: &counts.Findings, Now: &to.now,
	})
	if err := db.ExpectRow(fmt.Sprintf("round %d of session %q", to.number, to.session.ID), err); err != nil {
		return err
	}
	standing, err := tx.FindingsOfRound(ctx, roundID)
	if err != nil {
		return err
	}
	ids := map[findingKey][]int64{}
	for _, row := range standing {
		key := keyOf(row.ReviewerType, row.InstanceNumber, row.Title, row.Severity, row.FilePath)
		ids[key] = append(ids[key], row.ID)
	}
	told := map[int64]bool{}
	for _, reviewer := range round.Reviewers {
		outputID, err := tx.OutputUpsert(ctx, gen.OutputUpsertParams{
			RoundID: roundID, ReviewerType: reviewer.Type, InstanceNumber: reviewer.Instance,
			FilePath:     reviewPath(to, reviewer),
			FindingCount: ptr(int64(len(reviewer.Findings))), Now: &to.now,
		})
		if err := db.ExpectRow(fmt.Sprintf("reviewer %s %d", reviewer.Type, reviewer.Instance), err); err != nil {
			return err
		}
		told[outputID] = true
		for _, f := range reviewer.Findings {
			row := gen.FindingUpsertParams{
				ReviewerOutputID: outputID, Title: f.Title, Severity: f.Severity, FilePath: f.FilePath,
				LineStart: f.LineStart, LineEnd: f.LineEnd, Summary: &f.Summary, Category: &f.Category, Now: &to.now,
			}
			if f.Category == artifact.Blocker {
				row.IsBlocker = 1
			}
			key := keyOf(reviewer.Type, reviewer.Instance, f.Title, f.Severity, f.FilePath)
			if same := ids[key]; len(same) > 0 {
				row.ID, ids[key] = &same[0], same[1:]
			}
			if err := db.ExpectRows(1, fmt.Sprintf("the finding %q", f.Title))(tx.FindingUpsert(ctx, row)); err != nil {
				return err
			}
		}
	}
	for _, gone := range ids {
		for _, id := range gone {
			if err := db.ExpectRows(1, fmt.Sprintf("the removal of finding %d", id))(tx.FindingDelete(ctx, id)); err != nil {
				return err
			}
		}
	}
	outputs, err := tx.OutputsOfRound(ctx, roundID)
	if err != nil {
		return err
	}
	return dropUntold(ctx, "reviewer", outputs, told, tx.OutputDelete)
}

// reviewPath is where the reviewer's text lies. The type is written as it was
// given: a type that looks like a path is a name, not a way.
func reviewPath(to target, reviewer artifact.Reviewer) string {
	return to.dir + string(filepath.Separator) + filepath.FromSlash(artifact.Review(to.number, reviewer.Type, reviewer.Instance))
}

// findingKey tells the findings of a round apart.
type findingKey struct {
	reviewer string
	instance int64
	title    string
	severity string
	file     string
}

func keyOf(reviewer string, instance int64, title, severity string, file *string) findingKey {
	key := findingKey{reviewer: reviewer, instance: instance, title: title, severity: severity}
	if file != nil {
		key.file = *file
	}
	return key
}
