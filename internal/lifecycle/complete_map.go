package lifecycle

import (
	"context"
	"fmt"

	"ocr/db"
	"ocr/db/gen"
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

// ingestMap stores a run for readers. Rows that stand for it already keep
// their ids, and with them people's ticks.
func ingestMap(ctx context.Context, tx *db.Tx, to target, run *artifact.Map) error {
	counts := run.Counts()
	runID, err := tx.MapRunUpsert(ctx, gen.MapRunUpsertParams{
		SessionID: to.session.ID, RunNumber: to.number, FileCount: &counts.Files,
		MapMdPath: to.final, SectionCount: &counts.Sections, Now: &to.now,
	})
	if err := db.ExpectRow(fmt.Sprintf("run %d of session %q", to.number, to.session.ID), err); err != nil {
		return err
	}
	told := map[int64]bool{}
	toldFiles := map[int64]bool{}
	for i, section := range run.Sections {
		sectionID, err := tx.MapSectionUpsert(ctx, gen.MapSectionUpsertParams{
			MapRunID: runID, SectionNumber: section.Number, Title: section.Title, Description: section.Description,
			FileCount: ptr(int64(len(section.Files))), DisplayOrder: int64(i),
		})
		if err := db.ExpectRow(fmt.Sprintf("section %d", section.Number), err); err != nil {
			return err
		}
		told[sectionID] = true
		for j, file := range section.Files {
			fileID, err := tx.MapFileUpsert(ctx, gen.MapFileUpsertParams{
				SectionID: sectionID, FilePath: file.Path, Role: &file.Role,
				LinesAdded: &file.Added, LinesDeleted: &file.Deleted, DisplayOrder: int64(j),
			})
			if err := db.ExpectRow("the file "+file.Path, err); err != nil {
				return err
			}
			toldFiles[fileID] = true
		}
	}
	files, err := tx.MapFilesOfRun(ctx, runID)
	if err != nil {
		return err
	}
	if err := dropUntold(ctx, "file", files, toldFiles, tx.MapFileDelete); err != nil {
		return err
	}
	sections, err := tx.MapSectionsOfRun(ctx, runID)
	if err != nil {
		return err
	}
	return dropUntold(ctx, "section", sections, told, tx.MapSectionDelete)
}
