package db

import (
	"context"
	"database/sql"
	"time"
)

// Holder is another process that has the database open.
type Holder struct {
	PID int `json:"pid"`
	// Name is the name of the program, or empty.
	Name string `json:"name"`
	// Doing is "writing", "checkpointing", "reading", or "open" when it holds
	// none of these locks at the moment.
	Doing string `json:"doing"`
}

// Holders lists the other processes that have the database at path open, as
// far as the system tells: on Linux those of this machine and user, elsewhere
// none. An empty list proves nothing: see InUse.
func Holders(path string) []Holder { return holders(RealPath(path)) }

// lockFileHolders is the process that holds the lock file of the database at
// path, as far as the system tells.
func lockFileHolders(path string) []Holder { return lockHolders(path + ".lock") }

// holderWait is how long InUse waits for others to leave: a command that is
// about to end is no obstacle.
const holderWait = 500 * time.Millisecond

// InUse says whether another process has the database open. It first refuses,
// as Open does, a file that this program must not write.
func InUse(ctx context.Context, path string) (inUse bool, err error) {
	o := newOpener(path, Options{})
	path = o.path
	if _, err := o.look(ctx); err != nil {
		return false, err
	}
	o.waits.engine = holderWait
	dsn, err := address(path, "mode=rw", settings(o.waits), "_pragma=locking_mode(EXCLUSIVE)")
	if err != nil {
		return false, fileError(path, err)
	}
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return false, engineError(path, err)
	}
	// A connection of the write-ahead log keeps a lock on the file for as
	// long as it is open; only somebody alone gets the exclusive one.
	_, err = pool.ExecContext(ctx, "BEGIN EXCLUSIVE; ROLLBACK")
	err = engineError(path, join(err, pool.Close()))
	if KindOf(err) == KindBusy {
		return true, nil
	}
	return false, err
}
