package db

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Delete runs fn, which takes rows of the given tables away, and refuses what
// it did, so that the transaction must be rolled back, if the schema is not as
// expected (KindAltered), or if rows of any other table were changed or went
// along, by a cascade or a trigger (KindOtherRows). Triggers of others may add
// rows.
func (t *Tx) Delete(ctx context.Context, tables []string, fn func() error) error {
	if err := deletable(ctx, t.conn); err != nil {
		return err
	}
	touched := map[string][]int64{}
	forget, err := watchRows(t.conn, func(w rowWrite) {
		allowed := slices.ContainsFunc(tables, func(name string) bool { return lower(name) == lower(w.table) })
		if w.op != rowInserted && !(allowed && w.op == rowDeleted) {
			touched[w.table] = append(touched[w.table], w.row)
		}
	})
	if err != nil {
		return err
	}
	if err := join(fn(), forget()); err != nil {
		return err
	}
	if len(touched) == 0 {
		return nil
	}
	var list []string
	for _, table := range slices.Sorted(maps.Keys(touched)) {
		rows := make([]string, len(touched[table]))
		for i, row := range touched[table] {
			rows[i] = fmt.Sprint(row)
		}
		list = append(list, fmt.Sprintf("%d of %s (id %s)", len(rows), table, some(rows)))
	}
	return &Error{
		Kind:    KindOtherRows,
		Message: "the deletion would take or change rows that it must not touch: " + strings.Join(list, "; ") + "; nothing was deleted",
		Hint:    "look for what does so, such as a trigger of another program: ocr doctor --check schema --json",
	}
}

// Deletable is nil where a deletion may rely on the schema; else an *Error of
// KindAltered that names what is not as expected.
func (r *Reader) Deletable(ctx context.Context) error { return deletable(ctx, r.conn) }

// deletable holds tables, columns, views and triggers to be as expected: what
// rows may go is said there. Indexes change no answer.
func deletable(ctx context.Context, conn *sql.Conn) error {
	found, _, err := compareSchema(ctx, conn, Latest())
	if err != nil {
		return err
	}
	var faults []string
	hint := "ocr doctor --fix makes views and triggers again as they should be"
	for _, d := range found {
		if d.Fault == FaultExtra || d.Kind == "index" {
			continue
		}
		faults = append(faults, d.String())
		if !d.recreatable() {
			hint = "ocr doctor --check schema --json tells what is different"
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return &Error{
		Kind:    KindAltered,
		Message: "nothing is deleted while the schema is not as it should be: " + some(faults),
		Hint:    hint,
	}
}
