package lifecycle

import "fmt"

// Class says which kind of no an Error is. Each class has one exit code.
type Class int

const (
	// Usage: the request itself makes no sense for this session.
	Usage Class = iota + 1
	// Ambiguous: several sessions fit and none was named.
	Ambiguous
	// NotFound: the named session, or any session at all, does not exist.
	NotFound
	// Transition: the phase graph has no such move.
	Transition
	// Invariant: something that must be true first is not.
	Invariant
)

// Error is a refusal by the workflow. Nothing was written.
type Error struct {
	Class Class
	// Kind is the machine word for the refusal.
	Kind string
	// Message says what was refused, of what, and why.
	Message string
	// Hint is a command that is safe to run next, or empty.
	Hint string
	// Details are facts for programs, or nil.
	Details any
}

func (e *Error) Error() string { return e.Message }

// The kinds an *Error can have.
const (
	KindNoSession       = "no_session"
	KindNoActiveSession = "no_active_session"
	KindSeveralActive   = "several_active_sessions"
	KindWrongWorkflow   = "wrong_workflow"
	KindWrongNumberFlag = "wrong_number_flag"
	KindIllegalMove     = "illegal_transition"
	KindUnknownPhase    = "unknown_phase"
	KindIllegalNumber   = "illegal_number"
	KindClosed          = "session_closed"
	KindUnfinished      = "unfinished"
	KindNotAtSynthesis  = "not_at_synthesis"
	KindCompleteByVerb  = "complete_by_verb"
	KindNoFinal         = "no_final"
	KindOtherNumber     = "not_current"
	KindOtherPayload    = "differs_from_record"
	KindStillRunning    = "still_running"
	KindStillMoving     = "still_moving"
	KindLeaseHeld       = "lease_held"
	KindLeaseLost       = "lease_lost"
	KindLeaseUnreadable = "lease_unreadable"
	KindUnknownWorkflow = "unknown_workflow"
	KindLogWithoutRow   = "log_without_row"
	KindNoProcess       = "no_process"
	KindOtherSession    = "process_of_another_session"
)

// RuleKinds names each rule that a trigger of the schema keeps, by the text
// that the trigger raises.
var RuleKinds = map[string]string{
	"unknown orchestration_events.event_type":                                        "unknown_event_type",
	"cannot close session without a completed round/run or an explicit reason event": KindUnfinished,
	"events are never changed: append a new one":                                     "immutable_log",
	"events are never deleted":                                                       "immutable_log",
	"events are never replaced":                                                      "immutable_log",
	"an event id this high leaves no room for the next":                              "immutable_log",
	"event ids only grow: give none, and the next one is taken":                      "immutable_log",
	"event ids start at 1":                                                           "immutable_log",
	"an active session is completed from the phase synthesis only":                   KindNotAtSynthesis,
	"a session is born active":                                                       "session_identity",
	"the id and workflow_type of a session never change":                             "session_identity",
	"the row of a session is never numbered -1":                                      "session_identity",
	"a session keeps its row":                                                        "session_identity",
	"rounds and runs are whole numbers from 1":                                       KindIllegalNumber,
	"a session that has events is never deleted":                                     "session_has_events",
	"a session that has events is never replaced":                                    "session_has_events",
	"a closed session moves only to complete, or when it is re-opened":               KindClosed,
}

func refuse(class Class, kind, hint, format string, args ...any) *Error {
	return &Error{Class: class, Kind: kind, Message: fmt.Sprintf(format, args...), Hint: hint}
}
