package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

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
				for _, event := range result {
					eventText(w, event)
				}
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

func eventText(w io.Writer, e timelineEvent) {
	var place bytes.Buffer
	switch {
	case e.MapRun != nil:
		fmt.Fprintf(&place, "run %d", *e.MapRun)
	case e.Round != nil:
		fmt.Fprintf(&place, "round %d", *e.Round)
	}
	fmt.Fprintf(w, "%4d  %s  %-25s  %-8s  %-20s  %s\n", e.ID, oneLine(e.CreatedAt), oneLine(e.EventType),
		place.String(), oneLine(optional(e.Phase)), oneLine(optional(e.Metadata)))
}
