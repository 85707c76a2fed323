package care

import (
	"context"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// Sink is where an export goes.
type Sink interface {
	// Begin starts from nothing. It may come again, when the database changed
	// while it was read: what came before then counts for nothing.
	Begin() error
	// Table begins a table; its rows follow.
	Table(name string, columns []string) error
	// Row gets the values in the order of the columns: nil, int64, float64,
	// string or []byte.
	Row(values []any) error
}

// Export hands out all rows of the database at path as they are stored, or
// those that belong to one session, in one consistent view. Without a database
// there are none. A session that does not exist is a *lifecycle.Error.
func Export(ctx context.Context, path string, opt db.Options, session string, to Sink) error {
	err := db.ReadUpgraded(ctx, path, opt, func(ctx context.Context, r *db.Reader) error {
		if err := to.Begin(); err != nil {
			return err
		}
		if session != "" {
			if err := mustExist(ctx, r, session); err != nil {
				return err
			}
		}
		return r.Export(ctx, session, db.Dump{Table: to.Table, Row: to.Row})
	})
	if session == "" && db.KindOf(err) == db.KindNoDatabase {
		return to.Begin()
	}
	return err
}

// Content holds the rows of one session: table, row, column.
type Content map[string][]map[string]any

// ExportSessions is Export for one session after the other, in the order in
// which they began. begin is called as Begin of a Sink.
func ExportSessions(ctx context.Context, path string, opt db.Options, session string,
	begin func() error, fn func(session string, content Content) error) error {
	err := db.ReadUpgraded(ctx, path, opt, func(ctx context.Context, r *db.Reader) error {
		if err := begin(); err != nil {
			return err
		}
		ids, err := r.ExportSessions(ctx)
		if session != "" {
			ids, err = []string{session}, mustExist(ctx, r, session)
		}
		if err != nil {
			return err
		}
		for _, id := range ids {
			content, err := contentOf(ctx, r, id)
			if err != nil {
				return err
			}
			if err := fn(id, content); err != nil {
				return err
			}
		}
		return nil
	})
	if session == "" && db.KindOf(err) == db.KindNoDatabase {
		return begin()
	}
	return err
}

func contentOf(ctx context.Context, r *db.Reader, session string) (Content, error) {
	content := Content{}
	table, columns := "", []string(nil)
	return content, r.Export(ctx, session, db.Dump{
		Table: func(name string, names []string) error {
			table, columns = name, names
			return nil
		},
		Row: func(values []any) error {
			row := map[string]any{}
			for i, column := range columns {
				row[column] = values[i]
			}
			content[table] = append(content[table], row)
			return nil
		},
	})
}

func mustExist(ctx context.Context, r *db.Reader, session string) error {
	found, err := r.ExportFinds(ctx, session)
	if err == nil && found == 0 {
		err = refuse(lifecycle.NotFound, lifecycle.KindNoSession, "ocr state list", nil, "there is no session %q", session)
	}
	return err
}
