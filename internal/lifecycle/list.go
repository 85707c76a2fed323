package lifecycle

import (
	"context"

	"ocr/db"
	"ocr/db/gen"
)

// List reads the sessions of one status ("active" or "closed"), or of "all",
// newest first. Without a database there are none.
func List(ctx context.Context, c Caller, status string) (rows []gen.SessionListRow, err error) {
	err = c.read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		rows, err = r.SessionList(ctx, status)
		return err
	})
	if isMissing(err) {
		return []gen.SessionListRow{}, nil
	}
	return rows, err
}
