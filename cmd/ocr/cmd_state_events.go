package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"ocr/db/gen"
	"ocr/internal/lifecycle"
)

// timelineEvent is one event of what events prints under --json.
type timelineEvent struct {
	ID          int64   `json:"id"`
	SessionID   string  `json:"session_id"`
	CreatedAt   string  `json:"created_at"`
	EventType   string  `json:"event_type"`
	Phase       *string `json:"phase"`
	PhaseNumber *int64  `json:"phase_number"`
	Round       *int64  `json:"round"`
	MapRun      *int64  `json:"map_run"`
	IsLease     bool    `json:"is_lease"`
	Metadata    *string `json:"metadata"`
}

func eventsCommand(a *app) *command {
	fs := newFlags()
	id := sessionFlag(fs)
	after := wholeNumber(fs, "after", 0, "leave out everything up to the event `ID`")
	follow := fs.Bool("follow", false, "go on with every new event until interrupted")
	return &command{
		name:     "events",
		synopsis: "print the timeline of a session",
		usage:    "[--session-id ID] [--after ID] [--follow] [--json]",
		long: `Events come in the order in which they were written. With --follow --json each
event is one JSON object on a line of its own. Changes nothing.`,
		example: "ocr state events --session-id 2026-03-02-cart",
		exits:   []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitBusy},
		flags:   fs,
		exec: func(ctx context.Context, _ []string) error {
			caller, err := a.caller()
			if err != nil {
				return err
			}
			if *follow {
				return lifecycle.Follow(ctx, caller, *id, after.Value, func(row gen.EventTimelineRow) error {
					event := timelineJSON(row)
					return a.print(event, func(w io.Writer) { eventText(w, event) })
				})
			}
			rows, err := lifecycle.Events(ctx, caller, *id, after.Value)
			if err != nil {
				return err
			}
			result := make([]timelineEvent, 0, len(rows))
			for _, row := range rows {
				result = append(result, timelineJSON(row))
			}
			return a.print(result, func(w io.Writer) {
				list := newListing("id", "time (UTC)", "event", "number", "phase", "facts")
				for _, event := range result {
					list.row(event.cells()...)
				}
				list.print(w)
			})
		},
	}
}

func timelineJSON(row gen.EventTimelineRow) timelineEvent {
	return timelineEvent{
		row.EventID, row.SessionID, row.CreatedAt, row.EventType, row.Phase,
		row.PhaseNumber, row.Round, row.MapRun, row.IsLease, row.Metadata,
	}
}

// cells are what a person sees of an event.
func (e timelineEvent) cells() []string {
	number := e.Round
	if e.MapRun != nil {
		number = e.MapRun
	}
	return []string{
		strconv.FormatInt(e.ID, 10), e.CreatedAt, e.EventType, optionalNumber(number), optional(e.Phase), optional(e.Metadata),
	}
}

// eventText writes one event of a timeline that grows, in columns wide enough
// for what usually comes.
func eventText(w io.Writer, e timelineEvent) {
	c := e.cells()
	for i := range c {
		c[i] = oneLine(c[i])
	}
	fmt.Fprintf(w, "%4s  %s  %-25s  %3s  %-20s  %s\n", c[0], c[1], c[2], c[3], c[4], c[5])
}
