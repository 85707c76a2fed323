// Package history keeps the recovery log of the process journal: an
// append-only text file of one JSON object a line, shared with other programs,
// from which the journal comes back when the database is lost. It is a help,
// never the truth: what the database says wins.
package history

import (
	"encoding/json"
	"errors"
)

// The events of an Entry.
const (
	// Start: the process was recorded.
	Start = "start"
	// Finish: it ended, or was found dead.
	Finish = "finish"
	// Cancel: it was ended by a user or with its session.
	Cancel = "cancel"
)

// version is that of the shape of a line.
const version = 1

// writer names this program among those that write the log.
const writer = "cli"

// Entry is one line of the log: a process as its row stood at that moment.
// The keys up to Writer are shared with other programs, which do not write the
// ones after it. Times are as recorded.
type Entry struct {
	V    int    `json:"v"`
	UID  string `json:"uid"`
	DBID int64  `json:"db_id"` // the row's number in command_executions
	// Command, Args, ExitCode and the times are those of the row.
	Command    string  `json:"command"`
	Args       *string `json:"args"`
	ExitCode   *int64  `json:"exit_code"`
	StartedAt  string  `json:"started_at"`
	FinishedAt *string `json:"finished_at"`
	IsDetached flag    `json:"is_detached"`
	Event      string  `json:"event"`
	Writer     string  `json:"writer"`

	WorkflowID      *string `json:"workflow_id,omitempty"`
	Vendor          *string `json:"vendor,omitempty"`
	VendorSessionID *string `json:"vendor_session_id,omitempty"`
	Persona         *string `json:"persona,omitempty"`
	InstanceIndex   *int64  `json:"instance_index,omitempty"`
	Name            *string `json:"name,omitempty"`
	ResolvedModel   *string `json:"resolved_model,omitempty"`
	LastHeartbeatAt *string `json:"last_heartbeat_at,omitempty"`
	Notes           *string `json:"notes,omitempty"`
}

// flag is 0 or 1; other programs may write false and true.
type flag int64

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "0", "false", "null":
		*f = 0
	case "1", "true":
		*f = 1
	default:
		return errors.New("it is neither 0 nor 1")
	}
	return nil
}

// parse reads one line. It refuses whatever could not become a row.
func parse(line []byte) (Entry, bool) {
	var e Entry
	if json.Unmarshal(line, &e) != nil {
		return e, false
	}
	sound := e.V == version && e.UID != "" && e.Command != "" && e.StartedAt != ""
	switch e.Event {
	case Start:
		return e, sound
	case Finish, Cancel:
		return e, sound && e.FinishedAt != nil
	}
	return e, false
}
