package lifecycle

import (
	"context"

	"ocr/db"
	"ocr/internal/artifact"
)

// runRecord is the metadata of map_completed, shared with other programs.
type runRecord struct {
	SectionCount int64  `json:"section_count"`
	FileCount    int64  `json:"file_count"`
	Source       string `json:"source"`
}

// CompleteMap records the result of a map run: map-meta.json, the event
// map_completed, the phase complete, and the sections with their files. It
// refuses as CompleteRound does.
func CompleteMap(ctx context.Context, c Caller, in CompleteRequest) (CompleteResult, error) {
	run, err := artifact.ParseMap(in.Payload)
	if err != nil {
		return CompleteResult{}, err
	}
	counts := run.Counts()
	return c.complete(ctx, in, outcome{
		workflow:  "map",
		document:  run.Document(),
		warnings:  run.Warnings(),
		facts:     runRecord{SectionCount: counts.Sections, FileCount: counts.Files, Source: "orchestrator"},
		metaFile:  artifact.MapMeta,
		finalFile: artifact.MapFinal,
		ingest: func(ctx context.Context, tx *db.Tx, to target) error {
			return ingestMap(ctx, tx, to, run)
		},
	})
}
