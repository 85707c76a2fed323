package lifecycle

import (
	"context"
	"fmt"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/history"
	"ocr/internal/process"
)

// Chosen is the session that a verb of the journal works on.
type Chosen struct {
	ID     string
	Closed bool
	// Reopen is the command that opens a closed session again.
	Reopen  string
	session session
}

// Resolve picks a session as every verb does: the named one, else the one that
// the caller's own process works for, else the only active one.
func (c Caller) Resolve(ctx context.Context, q *gen.Queries, id string) (Chosen, error) {
	s, err := c.resolve(ctx, q, id)
	if err != nil {
		return Chosen{}, err
	}
	return Chosen{ID: s.ID, Closed: s.Status == "closed", Reopen: s.beginAgain(), session: s}, nil
}

// Tell says which session was picked when the caller did not name it.
func (c Caller) Tell(chosen Chosen) { c.tell(chosen.session) }

// Write runs fn in the one transaction of a verb, on a database that exists.
func (c Caller) Write(ctx context.Context, fn func(ctx context.Context, tx *db.Tx) error) error {
	return c.write(ctx, false, fn)
}

// Read runs fn on one consistent view; fn may run again.
func (c Caller) Read(ctx context.Context, fn func(ctx context.Context, r *db.Reader) error) error {
	return c.read(ctx, fn)
}

// Facts tells which processes live.
func (c Caller) Facts() process.Facts {
	if c.Processes == nil {
		return process.System{}
	}
	return c.Processes
}

// Judge says whether an unfinished process is alive, dead, or neither for all
// that can be proved from here.
func (c Caller) Judge(row gen.AgentJournal) process.Verdict {
	return process.Judge(c.Facts(), row, time.Duration(c.Runtime.HeartbeatSeconds)*time.Second)
}

// Stalled reports whether an unfinished process gave its last sign of life
// longer ago than the threshold. It says nothing about death.
func (c Caller) Stalled(row gen.AgentJournal) bool {
	return row.HeartbeatAgeSeconds != nil && *row.HeartbeatAgeSeconds > c.Runtime.HeartbeatSeconds
}

// Live reports whether an unfinished process counts as being at work: it keeps
// a heartbeat, and that is not older than the threshold. One that is no time
// proves nothing, and counts as live: to wait for a dead process loses less
// than to take the work from a living one.
func (c Caller) Live(row gen.AgentJournal) bool {
	return row.LastHeartbeatAt != nil && !c.Stalled(row)
}

// Record writes processes that began or ended to the recovery log, after the
// commit. The log is a help: that it cannot be written is a warning.
func (c Caller) Record(ctx context.Context, entries []history.Entry) {
	path := history.Path(c.Project.Data())
	if err := history.Append(context.WithoutCancel(ctx), path, entries); err != nil {
		c.Notice(fmt.Sprintf("warning: the recovery log %s was not written: %v", path, err))
	}
}

// Upgrade brings the database to the present schema before a verb that may
// turn out to have nothing to write.
func (c Caller) Upgrade(ctx context.Context) error { return c.upToDate(ctx, false) }
