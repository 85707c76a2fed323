package care

import (
	"context"
	"errors"
	"fmt"

	"ocr/db"
	"ocr/internal/lifecycle"
)

// Checkpointed says what Checkpoint has done. Sizes are in bytes.
type Checkpointed struct {
	LogBefore int64
	LogAfter  int64
}

// Checkpoint moves the write-ahead log into the database file and empties it.
// While somebody reads old pages or writes, what can be moved is moved, and the
// error is an *db.Error of KindBusy that names who is in the way.
func Checkpoint(ctx context.Context, c lifecycle.Caller) (done Checkpointed, err error) {
	path := db.RealPath(c.Project.Database())
	done.LogBefore = fileBytes(path + "-wal")
	store, err := db.Open(ctx, path, c.Options())
	if err != nil {
		return done, err
	}
	c.KeepIgnored()
	log, err := store.Checkpoint(ctx)
	if err == nil && log.Busy {
		err = heldBack(path, log)
	}
	err = errors.Join(err, store.Close())
	done.LogAfter = fileBytes(path + "-wal")
	return done, err
}

func heldBack(path string, log db.Checkpoint) error {
	var busy []db.Holder
	for _, h := range db.Holders(path) {
		if h.Doing != "open" {
			busy = append(busy, h)
		}
	}
	return &db.Error{
		Kind: db.KindBusy, Path: path,
		Message: fmt.Sprintf("the log of %s could not be emptied, %d of its %d pages are in the file now: held back by %s",
			path, log.Copied, log.Frames, whom(busy)),
		Hint: "Nothing is lost; run the same command again when that is done.",
	}
}
