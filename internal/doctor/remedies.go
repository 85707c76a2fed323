package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ocr/db"
	"ocr/internal/journal"
	"ocr/internal/lifecycle"
)

// opened runs fn on the open database.
func opened(ctx context.Context, c lifecycle.Caller, fn func(store *db.Store) error) error {
	store, err := db.Open(ctx, c.Project.Database(), c.Options())
	if err != nil {
		return err
	}
	c.KeepIgnored()
	return errors.Join(fn(store), store.Close())
}

// openForWriting is all that an old file, or one with a rollback journal,
// needs.
func openForWriting(ctx context.Context, c lifecycle.Caller) (string, error) {
	err := opened(ctx, c, func(*db.Store) error { return nil })
	return "opened for writing, which brings the file up to date", err
}

// clearMark makes what a file that is marked as unfinished lacks, and clears the
// mark; then the file is one that any verb may write.
func clearMark(ctx context.Context, c lifecycle.Caller) (string, error) {
	done, err := db.ClearMark(ctx, c.Project.Database(), c.Options())
	c.KeepIgnored()
	if err != nil {
		return "", err
	}
	detail := "the mark was cleared"
	if len(done.Made) > 0 {
		detail += "; made again: " + listed(done.Made)
	}
	if len(done.Failed) > 0 {
		detail += "; left as they are: " + listed(done.Failed)
	}
	_, err = openForWriting(ctx, c)
	return detail, err
}

// recreate declares that all objects of one kind that are missing or changed
// are made again.
func recreate(kind string) func(context.Context, lifecycle.Caller) (string, error) {
	return func(ctx context.Context, c lifecycle.Caller) (string, error) {
		done, err := db.Recreate(ctx, c.Project.Database(), kind, c.Options())
		c.KeepIgnored()
		detail := "made again: " + listed(done.Made)
		if len(done.Failed) > 0 {
			detail += "; left as they are: " + listed(done.Failed)
		}
		return detail, err
	}
}

// nothingDerived: all that point nowhere are rows that nobody may take away.
func nothingDerived(ctx context.Context, c lifecycle.Caller, found Check) (string, error) {
	some, err := AnyOrphans(ctx, c)
	if err != nil || some {
		return "", err
	}
	return "refused: rows of sessions, events and processes stay, and what people wrote or what that hangs on: " + refused(found), nil
}

// refused names a few of the rows that a check found, and counts the rest.
func refused(found Check) string {
	var parts []string
	for _, row := range found.Rows {
		parts = append(parts, fmt.Sprintf("%s %s", row.text("table_name"), shown(row["row_id"])))
	}
	few := parts[:min(len(parts), 5)]
	text := strings.Join(few, ", ")
	if more := len(parts) - len(few) + found.RowsOmitted; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// AnyOrphans reports whether DeleteOrphans would delete a row. It is an
// *db.Error while the schema is not as expected.
func AnyOrphans(ctx context.Context, c lifecycle.Caller) (some bool, err error) {
	err = c.Read(ctx, func(ctx context.Context, r *db.Reader) (err error) {
		if err := r.Deletable(ctx); err != nil {
			return err
		}
		some, err = r.OrphanArtifactAny(ctx)
		return err
	})
	return some, err
}

// DeleteOrphans deletes artifact rows of sessions that are not there, in one
// transaction, and says how many of which table. Rows of sessions, events and
// processes stay, and so does what people wrote and what it hangs on.
func DeleteOrphans(ctx context.Context, c lifecycle.Caller) (deleted map[string]int64, err error) {
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		return tx.Delete(ctx, derivedTables, func() (err error) {
			deleted, err = deleteFrom(ctx, tx)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return deleted, err
}

// derivedTables hold what is derived from the files of sessions.
var derivedTables = []string{
	"review_findings", "reviewer_outputs", "review_rounds", "map_files", "map_sections", "map_runs", "markdown_artifacts",
}

func deleteFrom(ctx context.Context, tx *db.Tx) (map[string]int64, error) {
	deleted := map[string]int64{}
	for _, part := range []struct {
		table string
		run   func(context.Context) (int64, error)
	}{
		{"review_findings", tx.FindingDeleteOrphans}, {"reviewer_outputs", tx.OutputDeleteOrphans},
		{"review_rounds", tx.RoundDeleteOrphans}, {"map_files", tx.MapFileDeleteOrphans},
		{"map_sections", tx.MapSectionDeleteOrphans}, {"map_runs", tx.MapRunDeleteOrphans},
		{"markdown_artifacts", tx.MarkdownDeleteOrphans},
	} {
		n, err := tx.OrphanArtifactCount(ctx, part.table)
		if err != nil {
			return nil, err
		}
		if err := db.ExpectRows(n, "the removal from "+part.table)(part.run(ctx)); err != nil {
			return nil, err
		}
		if n > 0 {
			deleted[part.table] = n
		}
	}
	return deleted, nil
}

func deleteOrphans(ctx context.Context, c lifecycle.Caller) (string, error) {
	deleted, err := DeleteOrphans(ctx, c)
	if err != nil {
		return "", err
	}
	var total int64
	for _, n := range deleted {
		total += n
	}
	return fmt.Sprintf("%d derived rows went; rows of sessions, events and processes stay, and what people wrote", total), nil
}

func foldDuplicates(ctx context.Context, c lifecycle.Caller) (detail string, err error) {
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		return tx.Delete(ctx, []string{"markdown_artifacts"}, func() error {
			n, err := tx.MarkdownDuplicateCount(ctx)
			if err != nil {
				return err
			}
			detail = fmt.Sprintf("%d older copies went", n)
			return db.ExpectRows(n, "the removal of older copies")(tx.MarkdownDeleteDuplicates(ctx))
		})
	})
	return detail, err
}

func reconcile(ctx context.Context, c lifecycle.Caller) (string, error) {
	done, err := lifecycle.Reconcile(ctx, c, false)
	var parts []string
	for _, a := range done.Actions {
		parts = append(parts, a.SessionID+": "+a.Kind)
	}
	return "reconciled " + listed(parts), err
}

// nothingToReconcile: what could prove the session cannot be looked at.
func nothingToReconcile(ctx context.Context, c lifecycle.Caller, _ Check) (string, error) {
	plan, err := lifecycle.Reconcile(ctx, c, true)
	for _, a := range plan.Actions {
		if a.Kind != lifecycle.ReconcileStale {
			return "", err
		}
	}
	return "left as they are, because nobody can tell whether a final text is there: see ocr state reconcile --dry-run", err
}

// nothingToSweep declares that a sweep has none of these actions to do.
func nothingToSweep(action string) func(context.Context, lifecycle.Caller, Check) (string, error) {
	return func(ctx context.Context, c lifecycle.Caller, _ Check) (string, error) {
		plan, err := lifecycle.Sweep(ctx, c, lifecycle.SweepRequest{OlderThanDays: lifecycle.StaleDays, DryRun: true})
		for _, s := range plan.Closed {
			if s.Action == action {
				return "", err
			}
		}
		return "a sweep would close none of them", err
	}
}

func sweepSessions(ctx context.Context, c lifecycle.Caller) (string, error) {
	done, err := lifecycle.Sweep(ctx, c, lifecycle.SweepRequest{OlderThanDays: lifecycle.StaleDays})
	var parts []string
	for _, s := range done.Closed {
		parts = append(parts, s.SessionID+": "+s.Action)
	}
	return "swept " + listed(parts), err
}

func sweepProcesses(ctx context.Context, c lifecycle.Caller) (string, error) {
	done, err := journal.Sweep(ctx, c, journal.SweepRequest{})
	var parts []string
	for _, p := range append(done.Orphaned, done.Ended...) {
		parts = append(parts, p.ID+": "+p.Reason)
	}
	return "ended " + listed(parts), err
}

// listed names a few and counts the rest.
func listed(parts []string) string {
	switch n := len(parts); {
	case n == 0:
		return "nothing"
	case n > 5:
		return fmt.Sprintf("%s, and %d more", strings.Join(parts[:5], ", "), n-5)
	}
	return strings.Join(parts, ", ")
}
