package db

import (
	"context"
	"database/sql"
	"time"
)

// Vacuum rewrites the file without its free pages. The schema version, the
// application id and write-ahead logging stay. Others may read meanwhile;
// while somebody writes it waits, for at most 26 seconds before it starts, and
// then fails with an *Error of KindBusy. It needs room for a second copy in
// the folder for temporary files and for a third in the log. The file itself
// shrinks at the next checkpoint.
func (s *Store) Vacuum(ctx context.Context) (err error) {
	o := newOpener(s.path, Options{})
	o.waits = s.waits
	o.waits.total -= s.waits.engine // for the first try
	start := time.Now()
	unlock, err := o.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = join(err, unlock()) }()
	return s.on(ctx, func(conn *sql.Conn) error {
		// The engine waits by itself at each try; the work has no time limit.
		for left := s.waits.total - time.Since(start); ; left -= s.waits.engine + s.waits.pause {
			_, err := conn.ExecContext(ctx, "VACUUM")
			err = engineError(s.path, err)
			if KindOf(err) != KindBusy || left < s.waits.engine+s.waits.pause {
				return err
			}
			if err := pause(ctx, s.waits.pause); err != nil {
				return err
			}
		}
	})
}
