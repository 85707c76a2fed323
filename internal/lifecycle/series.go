package lifecycle

import (
	"context"

	"ocr/db"
)

// series keeps the database open for a verb that needs many transactions.
func (c Caller) series(ctx context.Context, create bool, fn func(store *db.Store) error) error {
	store, err := db.Open(ctx, c.Project.Database(), c.options(create))
	if err != nil {
		return err
	}
	c.KeepIgnored()
	err = fn(store)
	if closeErr := store.Close(); err == nil && closeErr != nil {
		c.Notice("warning: closing the database: " + closeErr.Error())
	}
	return err
}

// upToDate upgrades the database, or makes it where create says so. One that
// is as it should be stays untouched.
func (c Caller) upToDate(ctx context.Context, create bool) error {
	return c.series(ctx, create, func(*db.Store) error { return nil })
}
