package care

import (
	"context"
	"errors"
	"io/fs"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// Recover saves what can be read of the damaged database at source into a new
// one at target. The source is only read. A target that exists, or beside
// which a log stands, is a *lifecycle.Error; a source of which nothing can be
// saved is an *db.Error.
func Recover(ctx context.Context, source, target string) (db.Salvaged, error) {
	result, err := db.Salvage(ctx, source, target)
	var path *fs.PathError
	if errors.Is(err, fs.ErrExist) && errors.As(err, &path) {
		err = refuse(lifecycle.Invariant, KindExists, "name a file that does not exist yet", nil,
			"%s exists already, and nothing is ever overwritten", path.Path)
	}
	return result, err
}
