package lifecycle

import "math"

// workflow is what differs between reviews and maps. The phases of each come
// from the view workflow_phases.
type workflow struct {
	// unit is what it counts.
	unit string
	// terminalEvent is the event that completes one of them.
	terminalEvent string
	// verb of ocr state completes one of them.
	verb string
	// numberFlag of ocr state advance opens the next.
	numberFlag string
}

var workflows = map[string]workflow{
	"review": {unit: "round", terminalEvent: "round_completed", verb: "complete-round", numberFlag: "--current-round"},
	"map":    {unit: "run", terminalEvent: "map_completed", verb: "complete-map", numberFlag: "--current-map-run"},
}

func (s session) workflow() workflow { return workflows[s.WorkflowType] }

// unit is what the session counts: rounds or runs.
func (s session) unit() string { return s.workflow().unit }

// terminalEvent is the event that completes the current round or run.
func (s session) terminalEvent() string { return s.workflow().terminalEvent }

// number is the current round of a review, or the current run of a map.
func (s session) number() int64 {
	if s.WorkflowType == "map" {
		return s.CurrentMapRun
	}
	return s.CurrentRound
}

// hasNext tells whether a number comes after the current one.
func (s session) hasNext() bool { return s.number() < math.MaxInt64 }

// noNext refuses to open what would come after the highest number there is.
func (s session) noNext() error {
	return refuse(Transition, KindIllegalNumber, s.command("show"),
		"session %q is in %s %d, the highest number there is: no further %s can be opened; begin another session",
		s.ID, s.unit(), s.number(), s.unit())
}
