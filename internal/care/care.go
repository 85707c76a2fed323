// Package care looks after the database file: it returns room, removes what
// can be derived again, counts, copies out and salvages, one verb a file.
// Sessions, events and process rows are never removed here, and nothing that a
// person wrote unless they say so.
package care

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/process"
	"ocr/internal/project"
)

// The kinds of refusals of this package; each is a *lifecycle.Error.
const (
	KindDashboard  = "dashboard_running"
	KindInUse      = "in_use"
	KindExists     = "exists"
	KindKeepsNone  = "keeps_none"
	KindNoSelector = "no_selector"
)

func refuse(class lifecycle.Class, kind, hint string, details any, format string, args ...any) error {
	return &lifecycle.Error{Class: class, Kind: kind, Message: fmt.Sprintf(format, args...), Hint: hint, Details: details}
}

// alone refuses while a dashboard runs or another process has the database
// open: the work would be slow for all of them. With force it goes on beside
// them, and says so.
func alone(ctx context.Context, c lifecycle.Caller, force bool) error {
	const hint = "end what uses the database, then run the same command again"
	if err := noDashboard(c, force); err != nil {
		return err
	}
	inUse, err := db.InUse(ctx, c.Project.Database())
	if err != nil || !inUse {
		return err
	}
	holders := db.Holders(c.Project.Database())
	if !force {
		return refuse(lifecycle.Invariant, KindInUse, hint, inUseDetails{holders},
			"the database is in use by %s", whom(holders))
	}
	c.Notice("note: going on beside " + whom(holders))
	return nil
}

// noDashboard refuses while a dashboard runs. With force it goes on beside it,
// and says so.
func noDashboard(c lifecycle.Caller, force bool) error {
	pid, running := dashboard(c.Project)
	switch {
	case !running:
		return nil
	case !force:
		return refuse(lifecycle.Invariant, KindDashboard, "stop the dashboard, then run the same command again",
			dashboardDetails{pid}, "a dashboard is running (process %d, %s)", pid, c.Project.DashboardPID())
	}
	c.Notice(fmt.Sprintf("note: going on beside the dashboard (process %d)", pid))
	return nil
}

type dashboardDetails struct {
	PID int64 `json:"pid"`
}

type inUseDetails struct {
	// Holders are those that the system names; there may be others.
	Holders []db.Holder `json:"holders"`
}

// whom names the holders for people.
func whom(holders []db.Holder) string {
	if len(holders) == 0 {
		return "another process (this system does not tell which)"
	}
	var list []string
	for _, h := range holders {
		list = append(list, fmt.Sprintf("process %d (%s, %s)", h.PID, h.Name, h.Doing))
	}
	return strings.Join(list, ", ")
}

// maxPIDBytes bounds the file in which the dashboard writes its number.
const maxPIDBytes = 64

// dashboard returns the process in the dashboard's file, if it is alive.
func dashboard(p project.Project) (pid int64, running bool) {
	text, err := project.ReadBounded(p.DashboardPID(), maxPIDBytes)
	if err != nil {
		return 0, false
	}
	pid, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return pid, err == nil && process.Alive(pid)
}

// fileBytes is the size of a file, 0 when there is none.
func fileBytes(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
