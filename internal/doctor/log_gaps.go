package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"ocr/internal/artifact"
)

// dataLogGaps names the events that were in the log and are not any more. A
// session of which nothing is left shows only by its folder: where events are
// missing, the folders with the results of a session that has no row are named
// as well. Without a gap such a folder came from elsewhere, and waits for sync.
func dataLogGaps(ctx context.Context, x *exam) result {
	const next = "ocr doctor --check data.log_gaps --json"
	var missing int64
	var rows []Row
	total := 0
	err := x.each(ctx, "probes/data_log_gaps.sql", func(row Row) {
		total++
		missing += row.number("events")
		if len(rows) < maxRows {
			rows = append(rows, row)
		}
	})
	switch {
	case err != nil:
		return unknown(err, next)
	case total == 0:
		return ok("none")
	}
	r := warn(next, "%d events were written and are not there: %s", missing, ranges(rows, total))
	r.rows, r.total = rows, total
	folders, err := x.foldersWithoutRow(ctx)
	switch {
	case err != nil:
		r.measured += "; the folders of sessions could not be looked at: " + err.Error()
	case len(folders) > 0:
		r.measured += "; folders with results of sessions without a row: " + strings.Join(folders, ", ")
	}
	return r
}

func ranges(rows []Row, total int) string {
	var parts []string
	for _, row := range rows {
		first, last := row.number("first_id"), row.number("last_id")
		if first == last {
			parts = append(parts, fmt.Sprint(first))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", first, last))
	}
	text := "ids " + strings.Join(parts, ", ")
	if more := total - len(rows); more > 0 {
		text += fmt.Sprintf(" and %d further ranges", more)
	}
	return text
}

// foldersWithoutRow lists at most maxRows folders of sessions that hold the
// result of a round or run and belong to no session of the database.
func (x *exam) foldersWithoutRow(ctx context.Context) (names []string, err error) {
	entries, err := os.ReadDir(x.project.Sessions())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	known := map[string]bool{}
	err = x.each(ctx, "facts/session_folders.sql", func(row Row) {
		known[x.project.SessionDir(row.text("session_dir"), row.text("id"))] = true
	})
	for _, entry := range entries[:min(len(entries), maxEntries)] {
		dir := x.project.SessionDir("", entry.Name())
		if err != nil || len(names) == maxRows {
			break
		}
		if !entry.IsDir() || known[dir] {
			continue
		}
		if slices.ContainsFunc([]string{artifact.RoundMeta(1), artifact.MapMeta(1)}, func(file string) bool {
			there, err := artifact.Exists(dir, file)
			return err == nil && there
		}) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}
