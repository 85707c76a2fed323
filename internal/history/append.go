package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"ocr/internal/project"
)

// The log is cut back to keepLines once it has more than maxLines.
const (
	maxLines  = 5000
	keepLines = 4000
)

// How long a writer stands in line, and how often it looks.
const (
	lockWait  = 5 * time.Second
	lockPause = 2 * time.Millisecond
)

// Append writes entries to the log at path, all in one piece, and makes the
// log if there is none. Writers of this program queue on a lock file beside
// it, so that no line is lost to another's cutting back.
func Append(ctx context.Context, path string, entries []Entry) (err error) {
	if len(entries) == 0 {
		return nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for _, entry := range entries {
		if err := encoder.Encode(entry); err != nil {
			return err
		}
	}
	cache, err := project.OpenCache(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	// The lock is taken by path: what stands there is looked at first.
	file, err := cache.Open(filepath.Base(path)+".lock", os.O_RDWR)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	lock := flock.New(path+".lock", flock.SetFlag(os.O_RDONLY))
	waiting, stop := context.WithTimeout(ctx, lockWait)
	defer stop()
	if _, err := lock.TryLockContext(waiting, lockPause); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return fmt.Errorf("another process held %s.lock for more than %s", path, lockWait)
		}
		return fmt.Errorf("locking %s.lock: %w", path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := appendTo(cache, filepath.Base(path), text.Bytes()); err != nil {
		return err
	}
	return cutBack(cache, path)
}

// appendTo writes text behind what is there. A last line that another writer
// left unfinished gets its end first, so that it spoils no line of ours.
func appendTo(cache *project.Cache, name string, text []byte) (err error) {
	file, err := cache.Open(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		if _, err := file.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	_, err = file.Write(text)
	return err
}
