package lifecycle

import (
	"context"
	"fmt"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
)

// ingestMap stores a run for readers. Rows that stand for it already keep
// their ids, and with them people's ticks and notes; a file that stands in
// another section now takes its row along. One that the payload does not have
// goes, unless people wrote on it.
func ingestMap(ctx context.Context, tx *db.Tx, to target, run *artifact.Map) error {
	counts := run.Counts()
	runID, err := tx.MapRunUpsert(ctx, gen.MapRunUpsertParams{
		SessionID: to.session.ID, RunNumber: to.number, FileCount: &counts.Files,
		MapMdPath: to.final, SectionCount: &counts.Sections, Now: &to.now,
	})
	if err := db.ExpectRow(fmt.Sprintf("run %d of session %q", to.number, to.session.ID), err); err != nil {
		return err
	}
	keep := map[int64]bool{}
	sections := make([]int64, len(run.Sections))
	for i, section := range run.Sections {
		sections[i], err = tx.MapSectionUpsert(ctx, gen.MapSectionUpsertParams{
			MapRunID: runID, SectionNumber: section.Number, Title: section.Title, Description: section.Description,
			FileCount: ptr(int64(len(section.Files))), DisplayOrder: int64(i),
		})
		if err := db.ExpectRow(fmt.Sprintf("section %d", section.Number), err); err != nil {
			return err
		}
		keep[sections[i]] = true
	}
	if err := to.moveFiles(ctx, tx, runID, run, sections, keep); err != nil {
		return err
	}
	for i, section := range run.Sections {
		for j, file := range section.Files {
			_, err := tx.MapFileUpsert(ctx, gen.MapFileUpsertParams{
				SectionID: sections[i], FilePath: file.Path, Role: &file.Role,
				LinesAdded: &file.Added, LinesDeleted: &file.Deleted, DisplayOrder: int64(j),
			})
			if err := db.ExpectRow("the file "+file.Path, err); err != nil {
				return err
			}
		}
	}
	existing, err := tx.MapSectionsOfRun(ctx, runID)
	if err != nil {
		return err
	}
	var stale []int64
	for _, section := range existing {
		if section.HasUserData && !keep[section.ID] {
			keep[section.ID] = true
			to.keep("section", section.ID, fmt.Sprintf("section %d", section.SectionNumber))
		}
		stale = append(stale, section.ID)
	}
	return deleteStale(ctx, "section", stale, keep, tx.MapSectionDelete)
}

// filePlace is where a file stands in a map.
type filePlace struct {
	section int64
	path    string
}

// moveFiles brings the rows of files to the sections that the payload has them
// in, and deletes those that it does not have. Those that people wrote on stay,
// and their sections with them.
func (to target) moveFiles(ctx context.Context, tx *db.Tx, runID int64, run *artifact.Map, sections []int64, keepSections map[int64]bool) error {
	existing, err := tx.MapFilesOfRun(ctx, runID)
	if err != nil {
		return err
	}
	// Whether people wrote on the file that stands there.
	standing := map[filePlace]bool{}
	ids := map[filePlace]int64{}
	for _, row := range existing {
		at := filePlace{row.SectionID, row.FilePath}
		standing[at], ids[at] = row.HasUserData, row.ID
	}
	wanted := map[filePlace]bool{}
	places := map[string][]filePlace{}
	for i, section := range run.Sections {
		for _, file := range section.Files {
			at := filePlace{sections[i], file.Path}
			wanted[at] = true
			places[file.Path] = append(places[file.Path], at)
		}
	}
	for _, row := range existing {
		if wanted[filePlace{row.SectionID, row.FilePath}] {
			continue
		}
		moved := false
		for _, at := range places[row.FilePath] {
			written, there := standing[at]
			if !row.HasUserData || written {
				continue
			}
			if there {
				if err := dropFile(ctx, tx, ids[at]); err != nil {
					return err
				}
			}
			err := db.ExpectRows(1, "the section of "+row.FilePath)(tx.MapFileMove(ctx, at.section, row.ID))
			if err != nil {
				return err
			}
			moved, standing[at], ids[at] = true, true, row.ID
			break
		}
		switch {
		case moved:
		case row.HasUserData:
			keepSections[row.SectionID] = true
			to.keep("file", row.ID, row.FilePath)
		default:
			if err := dropFile(ctx, tx, row.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func dropFile(ctx context.Context, tx *db.Tx, id int64) error {
	return db.ExpectRows(1, fmt.Sprintf("the removal of file %d", id))(tx.MapFileDelete(ctx, id))
}
