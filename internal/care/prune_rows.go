package care

import (
	"context"
	"encoding/json"

	"ocr/db/gen"
)

// doom is a list of rows of one table that go.
type doom struct {
	table string
	// ids is a JSON list.
	ids    string
	rows   int64
	remove func(ctx context.Context, ids string) (int64, error)
}

// chooser collects what goes, table after table, and keeps the first error.
type chooser struct {
	doomed []doom
	err    error
}

// rows runs one choice, unless one has failed already, and returns the ids as
// a JSON list for the next.
func rows[ID int64 | string](c *chooser, table string, remove func(context.Context, string) (int64, error),
	choose func() ([]ID, error)) string {
	if c.err != nil {
		return "[]"
	}
	ids, err := choose()
	if err != nil {
		c.err = err
		return "[]"
	}
	text, err := json.Marshal(ids)
	c.err = err
	c.doomed = append(c.doomed, doom{table, string(text), int64(len(ids)), remove})
	return string(text)
}

// choose lists what is derived in these sessions: with userData all of it and
// what people wrote on it, without only that on which nobody wrote. Each level
// is judged by what is left of the one below.
func choose(ctx context.Context, q *gen.Queries, sessions []string, userData bool) ([]doom, error) {
	text, err := json.Marshal(sessions)
	if err != nil {
		return nil, err
	}
	these, all := string(text), int64(0)
	if userData {
		all = 1
	}
	c := &chooser{}
	rows(c, "markdown_artifacts", q.MarkdownDeleteAll, func() ([]int64, error) { return q.PruneMarkdown(ctx, these) })
	findings := rows(c, "review_findings", q.FindingDeleteAll, func() ([]int64, error) {
		return q.PruneFindings(ctx, these, all)
	})
	outputs := rows(c, "reviewer_outputs", q.OutputDeleteAll, func() ([]int64, error) {
		return q.PruneOutputs(ctx, these, findings)
	})
	rounds := rows(c, "review_rounds", q.RoundDeleteAll, func() ([]int64, error) {
		return q.PruneRounds(ctx, gen.PruneRoundsParams{Sessions: these, Outputs: outputs, IncludeUserData: all})
	})
	files := rows(c, "map_files", q.MapFileDeleteAll, func() ([]int64, error) {
		return q.PruneMapFiles(ctx, these, all)
	})
	sections := rows(c, "map_sections", q.MapSectionDeleteAll, func() ([]int64, error) {
		return q.PruneMapSections(ctx, gen.PruneMapSectionsParams{Sessions: these, Files: files, IncludeUserData: all})
	})
	runs := rows(c, "map_runs", q.MapRunDeleteAll, func() ([]int64, error) {
		return q.PruneMapRuns(ctx, gen.PruneMapRunsParams{Sessions: these, Sections: sections, IncludeUserData: all})
	})
	if userData {
		derived := c.doomed
		c.doomed = nil
		rows(c, "user_finding_progress", q.FindingProgressDeleteAll, func() ([]int64, error) {
			return q.PruneFindingProgress(ctx, findings)
		})
		rows(c, "user_round_progress", q.RoundProgressDeleteAll, func() ([]int64, error) {
			return q.PruneRoundProgress(ctx, rounds)
		})
		rows(c, "user_file_progress", q.FileProgressDeleteAll, func() ([]int64, error) {
			return q.PruneFileProgress(ctx, files)
		})
		rows(c, "user_notes", q.NoteDeleteAll, func() ([]int64, error) {
			return q.PruneNotes(ctx, gen.PruneNotesParams{Findings: findings, Rounds: rounds, Files: files, Sections: sections, Runs: runs})
		})
		chats := rows(c, "chat_conversations", q.ChatDeleteAll, func() ([]string, error) {
			return q.PruneChats(ctx, rounds, runs)
		})
		rows(c, "chat_messages", q.ChatMessageDeleteAll, func() ([]int64, error) {
			return q.PruneChatMessages(ctx, chats)
		})
		// Children first: messages stand before their conversation.
		last := len(c.doomed) - 1
		if c.err == nil {
			c.doomed[last], c.doomed[last-1] = c.doomed[last-1], c.doomed[last]
		}
		c.doomed = append(c.doomed, derived...)
	}
	return c.doomed, c.err
}
