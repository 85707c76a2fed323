package lifecycle

import (
	"context"
	"fmt"
	"path/filepath"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
)

// ingestRound stores a round for readers. Rows that stand for it already, read
// in by another program or by an earlier payload, keep their ids, and with them
// people's triage and notes. One that the payload does not have goes, unless
// people wrote on it.
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
	existing, err := tx.FindingsOfRound(ctx, roundID)
	if err != nil {
		return err
	}
	ids := matchFindings(existing, round)
	keep := map[int64]bool{}
	place := 0
	for _, reviewer := range round.Reviewers {
		outputID, err := tx.OutputUpsert(ctx, gen.OutputUpsertParams{
			RoundID: roundID, ReviewerType: reviewer.Type, InstanceNumber: reviewer.Instance,
			FilePath:     reviewPath(to, reviewer),
			FindingCount: ptr(int64(len(reviewer.Findings))), Now: &to.now,
		})
		if err := db.ExpectRow(fmt.Sprintf("reviewer %s %d", reviewer.Type, reviewer.Instance), err); err != nil {
			return err
		}
		keep[outputID] = true
		for _, f := range reviewer.Findings {
			row := gen.FindingUpsertParams{
				ID: ids[place], ReviewerOutputID: outputID, Title: f.Title, Severity: f.Severity, FilePath: f.FilePath,
				LineStart: f.LineStart, LineEnd: f.LineEnd, Summary: &f.Summary, Category: &f.Category, Now: &to.now,
			}
			if f.Category == artifact.Blocker {
				row.IsBlocker = 1
			}
			if err := db.ExpectRows(1, fmt.Sprintf("the finding %q", f.Title))(tx.FindingUpsert(ctx, row)); err != nil {
				return err
			}
			place++
		}
	}
	if err := to.dropFindings(ctx, tx, existing, ids, keep); err != nil {
		return err
	}
	outputs, err := tx.OutputsOfRound(ctx, roundID)
	if err != nil {
		return err
	}
	return deleteStale(ctx, "reviewer", outputs, keep, tx.OutputDelete)
}

// dropFindings deletes the findings that were matched with none of the payload.
// Those that people wrote on stay, and their reviewers with them.
func (to target) dropFindings(ctx context.Context, tx *db.Tx, existing []gen.FindingsOfRoundRow, ids []*int64, keepOutputs map[int64]bool) error {
	matched := map[int64]bool{}
	for _, id := range ids {
		if id != nil {
			matched[*id] = true
		}
	}
	for _, row := range existing {
		switch {
		case matched[row.ID]:
		case row.HasUserData:
			keepOutputs[row.ReviewerOutputID] = true
			to.keep("finding", row.ID, fmt.Sprintf("%s-%d: %s", row.ReviewerType, row.InstanceNumber, row.Title))
		default:
			err := db.ExpectRows(1, fmt.Sprintf("the removal of finding %d", row.ID))(tx.FindingDelete(ctx, row.ID))
			if err != nil {
				return err
			}
		}
	}
	return nil
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
	file     string
	severity string
	line     int64
}

// matchFindings finds, for each finding of the payload in order, the id of the
// row that stands for it, or nil. Reviewer, title and file make it the same
// finding; where several are, severity and line decide, and then whether people
// wrote on it.
func matchFindings(existing []gen.FindingsOfRoundRow, round *artifact.Round) []*int64 {
	rows := make([]findingKey, len(existing))
	for i, row := range existing {
		rows[i] = findingKey{row.ReviewerType, row.InstanceNumber, row.Title, value(row.FilePath), row.Severity, row.LineStart}
	}
	var wanted []findingKey
	for _, reviewer := range round.Reviewers {
		for _, f := range reviewer.Findings {
			wanted = append(wanted, findingKey{reviewer.Type, reviewer.Instance, f.Title, value(f.FilePath), f.Severity, value(f.LineStart)})
		}
	}
	ids := make([]*int64, len(wanted))
	taken := make([]bool, len(rows))
	for _, narrowed := range []func(findingKey) findingKey{
		func(k findingKey) findingKey { return k },
		func(k findingKey) findingKey { k.severity = ""; return k },
		func(k findingKey) findingKey { k.line = 0; return k },
		func(k findingKey) findingKey { k.line, k.severity = 0, ""; return k },
	} {
		free := map[findingKey][]int{}
		for i, key := range rows {
			if !taken[i] {
				free[narrowed(key)] = append(free[narrowed(key)], i)
			}
		}
		for i, key := range wanted {
			if same := free[narrowed(key)]; ids[i] == nil && len(same) > 0 {
				ids[i], taken[same[0]] = &existing[same[0]].ID, true
				free[narrowed(key)] = same[1:]
			}
		}
	}
	return ids
}

// value is what a pointer leads to, or nothing.
func value[T any](pointer *T) (v T) {
	if pointer != nil {
		v = *pointer
	}
	return v
}
