package lifecycle

import (
	"context"
	"fmt"

	"ocr/db"
)

// KeptRow is a finding, a section or a file that the newest payload does not
// have, and that stays because people wrote on it.
type KeptRow struct {
	// Kind is "finding", "section" or "file".
	Kind string
	// ID is the number of its row, to which triage and notes belong.
	ID int64
	// Name is for people.
	Name string
}

// keep notes a row that stays.
func (to target) keep(kind string, id int64, name string) {
	*to.kept = append(*to.kept, KeptRow{kind, id, name})
}

// noteKept tells people what stays.
func (c Caller) noteKept(kept []KeptRow) {
	for _, row := range kept {
		c.Notice(fmt.Sprintf("note: the %s %d (%s) is not in this payload; it stays, because somebody wrote on it", row.Kind, row.ID, row.Name))
	}
}

// deleteStale deletes the rows that stand for a round or run and are not to be
// kept; what names them for people.
func deleteStale(ctx context.Context, what string, existing []int64, keep map[int64]bool,
	drop func(context.Context, int64) (int64, error)) error {
	for _, id := range existing {
		if keep[id] {
			continue
		}
		if err := db.ExpectRows(1, fmt.Sprintf("the removal of %s %d", what, id))(drop(ctx, id)); err != nil {
			return err
		}
	}
	return nil
}
