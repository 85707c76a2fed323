package db

import (
	"context"
	"database/sql"
)

// protectedTables hold the audit trail: no repair ever deletes their rows. The
// engine's check of foreign keys names tables; which of them matter most, only
// this list can say.
var protectedTables = map[string]bool{"sessions": true, "orchestration_events": true, "command_executions": true}

// Health is what the engine and the counts say about one file.
type Health struct {
	// IntegrityErrors are the findings of the engine's own check, at most
	// 100; none when the file is sound.
	IntegrityErrors []string
	// Orphans counts, per table, the rows whose foreign key points nowhere;
	// ProtectedOrphans those in tables whose rows no repair may delete.
	Orphans          []OrphanCount
	ProtectedOrphans []OrphanCount
	// OrphanRows are the first of all these rows, at most 20, those of the log
	// last.
	OrphanRows []OrphanRow
	// MarkdownDuplicates counts stored documents that have a newer copy.
	MarkdownDuplicates int64
	Events             int64
	Sessions           int64
}

// OrphanCount is how many rows of a table refer to something that is gone.
type OrphanCount struct {
	Table string
	Rows  int64
}

// OrphanRow is one row that refers to something that is gone.
type OrphanRow struct {
	Table string
	// ID is the rowid; nil in a table without one.
	ID *int64
	// Missing is the table that has no such row.
	Missing string
}

// TotalOrphans counts them over all tables.
func (h Health) TotalOrphans() (total int64) {
	for _, table := range append(h.Orphans, h.ProtectedOrphans...) {
		total += table.Rows
	}
	return total
}

// ReadHealth examines the database at path, whatever is wrong with it. The
// integrity is that of the file itself; of an old file the rest is as it will
// be after the upgrade. Nothing is changed.
func ReadHealth(ctx context.Context, path string, opt Options) (h Health, err error) {
	err = Inspect(ctx, path, func(ctx context.Context, r *Reader) (err error) {
		h.IntegrityErrors, err = r.integrityErrors(ctx)
		return err
	})
	if err != nil {
		return h, err
	}
	count := func(ctx context.Context, r *Reader) error { return r.count(ctx, &h) }
	if len(h.IntegrityErrors) > 0 {
		return h, Inspect(ctx, path, count)
	}
	return h, ReadUpgraded(ctx, path, opt, count)
}

func (r *Reader) integrityErrors(ctx context.Context) ([]string, error) {
	return r.IntegrityFaults(ctx, true)
}

// maxFaults bounds the findings about one file.
const maxFaults = 100

// IntegrityFaults are the findings of the engine's own check of every page and
// of the list of free pages, at most 100; none when the file is sound. With
// deep it also compares each entry of an index with its row, and looks whether
// a free page is in use.
func (r *Reader) IntegrityFaults(ctx context.Context, deep bool) ([]string, error) {
	check := quickCheck
	if deep {
		check = integrityCheck
	}
	found, err := check(ctx, r.conn, maxFaults)
	return append([]string{}, found...), err
}

func (r *Reader) count(ctx context.Context, h *Health) (err error) {
	counts, err := r.HealthCounts(ctx)
	if err != nil {
		return err
	}
	h.Events, h.Sessions, h.MarkdownDuplicates = counts.Events, counts.Sessions, counts.MarkdownDuplicates
	tables, err := orphans(ctx, r.conn)
	h.Orphans, h.ProtectedOrphans = []OrphanCount{}, []OrphanCount{}
	for _, table := range tables {
		if protectedTables[table.Table] {
			h.ProtectedOrphans = append(h.ProtectedOrphans, table)
			continue
		}
		h.Orphans = append(h.Orphans, table)
	}
	if err != nil || len(tables) == 0 {
		return err
	}
	fields := func(row *OrphanRow) []any { return []any{&row.Table, &row.ID, &row.Missing} }
	h.OrphanRows, err = collect(ctx, r.conn, fields, `SELECT "table", rowid, parent FROM pragma_foreign_key_check
ORDER BY "table" = 'orchestration_events', "table", rowid LIMIT 20`)
	return err
}

// orphans counts the rows of each table whose foreign key points nowhere.
func orphans(ctx context.Context, conn *sql.Conn) ([]OrphanCount, error) {
	fields := func(t *OrphanCount) []any { return []any{&t.Table, &t.Rows} }
	return collect(ctx, conn, fields, `SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1 ORDER BY 1`)
}
