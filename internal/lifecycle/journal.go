package lifecycle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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

// Process is an unfinished process as it is recorded, and whether it lives.
type Process struct {
	gen.AgentJournal
	process.Verdict
	// Self: it is the caller's own. A caller never waits for itself.
	Self bool
}

// AtWork reports whether the process counts as working on its session: it is
// journaled, and lives for all that is known. A heartbeat that is not a valid
// timestamp is neither young nor old and proves nothing: to wait for a dead
// process loses less than to take the work from a living one.
func (p Process) AtWork() bool {
	if p.LastHeartbeatAt == nil {
		return false
	}
	return p.State == process.Living || p.State == process.Unknown && p.HeartbeatEpoch == nil
}

// NameText is its name for people, empty where it has none.
func (p Process) NameText() string {
	if p.Name == nil {
		return ""
	}
	return *p.Name
}

// Unfinished looks at every unfinished process of a session. Status, resume,
// finish and the lists all go by what it says.
func (c Caller) Unfinished(ctx context.Context, q *gen.Queries, sessionID string, now time.Time) ([]Process, error) {
	rows, err := q.JournalUnfinished(ctx, &sessionID)
	if err != nil {
		return nil, err
	}
	processes := make([]Process, len(rows))
	for i, row := range rows {
		processes[i] = Process{AgentJournal: row.AgentJournal, Verdict: c.Judge(row.AgentJournal, now)}
	}
	c.findSelf(processes)
	return processes, nil
}

// Running looks at every unfinished process that keeps a heartbeat, of all
// sessions. Sweeps and the doctor go by what it says.
func (c Caller) Running(ctx context.Context, q *gen.Queries, now time.Time) ([]Process, error) {
	rows, err := q.JournalRunning(ctx)
	if err != nil {
		return nil, err
	}
	processes := make([]Process, len(rows))
	for i, row := range rows {
		processes[i] = Process{AgentJournal: row.AgentJournal, Verdict: c.Judge(row.AgentJournal, now)}
		processes[i].Self = c.ExecutionUID != "" && row.AgentJournal.ID == c.ExecutionUID
	}
	return processes, nil
}

// Judge says whether an unfinished process lives.
func (c Caller) Judge(row gen.AgentJournal, now time.Time) process.Verdict {
	return process.Judge(c.Facts(), row, time.Duration(c.Runtime.HeartbeatSeconds)*time.Second, now)
}

// Self names the caller's own process of a session: the one that --as or
// OCR_DASHBOARD_EXECUTION_UID names, else the only unfinished one that is
// provably among the processes above this one. Empty where there is none.
func (c Caller) Self(ctx context.Context, q *gen.Queries, sessionID string) (uid string, err error) {
	if c.ExecutionUID != "" {
		return c.namedSelf(ctx, q, sessionID)
	}
	rows, err := q.JournalUnfinished(ctx, &sessionID)
	if err != nil {
		return "", err
	}
	processes := make([]Process, len(rows))
	for i, row := range rows {
		processes[i].AgentJournal = row.AgentJournal
	}
	if i := c.findSelf(processes); i >= 0 {
		return processes[i].ID, nil
	}
	return "", nil
}

// namedSelf is the process that the caller names, if it is one of the session.
// A name that the process journal does not know proves nothing.
func (c Caller) namedSelf(ctx context.Context, q *gen.Queries, sessionID string) (string, error) {
	id, err := q.ExecutionFind(ctx, c.ExecutionUID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	row, err := q.JournalGet(ctx, id)
	if err != nil || row.AgentJournal.WorkflowID != sessionID {
		return "", err
	}
	return c.ExecutionUID, nil
}

// findSelf marks the caller's own process among the unfinished ones of one
// session, and returns where it stands; -1 where it is none of them. One process
// may have several rows, as when it recorded itself twice or for the parts that
// it plays: all of them are marked, and the oldest names it.
func (c Caller) findSelf(processes []Process) int {
	found := -1
	if c.ExecutionUID != "" {
		found = slices.IndexFunc(processes, func(p Process) bool { return p.ID == c.ExecutionUID })
	} else {
		found = c.findAbove(processes)
	}
	for i := range processes {
		if found >= 0 && (i == found || sameProcess(processes[i], processes[found])) {
			processes[i].Self = true
		}
	}
	return found
}

// sameProcess: both rows were recorded for one process, which was seen.
func sameProcess(a, b Process) bool {
	return a.PIDStartedTicks != nil && b.PIDStartedTicks != nil && *a.PIDStartedTicks == *b.PIDStartedTicks &&
		a.PID != nil && b.PID != nil && *a.PID == *b.PID && a.BootID != nil && b.BootID != nil && *a.BootID == *b.BootID
}

// findAbove finds the only process among those above this one, by its start.
func (c Caller) findAbove(processes []Process) int {
	if c.ParentPID == 0 || !slices.ContainsFunc(processes, func(p Process) bool { return p.RecordedPID != nil }) {
		return -1
	}
	above := process.Ancestors(c.Facts(), c.ParentPID)
	found := -1
	for i, p := range processes {
		if p.PID == nil || !slices.Contains(above, *p.PID) || !process.Same(c.Facts(), p.AgentJournal, *p.PID) {
			continue
		}
		switch {
		case found < 0:
			found = i
		case *processes[found].PID != *p.PID:
			return -1 // two of them: neither is known to be the caller
		}
	}
	return found
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
