package db

import (
	"os"
	"time"
)

// Watch tells cheaply whether a database may have changed. It looks at the
// names, sizes and times of the files and opens none of them, so that whoever
// looks again and again keeps no lock that others would have to wait for.
type Watch struct {
	path   string
	before files
	// settled says that a further write would have shown in the file times.
	settled bool
}

// NewWatch watches the database at path. Its first Changed says yes.
func NewWatch(path string) *Watch { return &Watch{path: path} }

// Changed says whether the database may have changed since the call before.
// Whoever reads after it, and not before, misses nothing. replaced says that
// another file has come in its place. A file that is gone has changed: reading
// says what is wrong.
func (w *Watch) Changed() (changed, replaced bool) {
	now, err := lookAt(w.path)
	if err != nil {
		*w = Watch{path: w.path}
		return true, true
	}
	before, settled := w.before, w.settled
	w.before, w.settled = now, now.settled()
	switch {
	case before.main == nil || !os.SameFile(before.main, now.main):
		return true, true
	case !settled:
		return true, false
	}
	return !now.same(before), false
}

// settled says that the files are older than one step of their clock. A time
// that lies ahead does not settle until then.
func (f files) settled() bool {
	newest := f.main.ModTime()
	if f.wal != nil && f.wal.ModTime().After(newest) {
		newest = f.wal.ModTime()
	}
	return time.Since(newest) > clockTick
}
