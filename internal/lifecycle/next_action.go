package lifecycle

import (
	"context"
	"fmt"
	"strings"

	"ocr/db/gen"
)

// The kinds of next action.
const (
	NextNone          = "none"
	NextReopen        = "reopen"
	NextWait          = "wait"
	NextFinish        = "finish"
	NextForwardResume = "forward_resume"
	NextAbortOrFresh  = "abort_or_fresh"
	NextCompleteRound = "complete_round"
	NextAdvance       = "advance"
)

// NextAction is what somebody should do about a session now.
type NextAction struct {
	Kind string
	// Text says it for people; a command in it works as printed.
	Text string
	// Remaining are the phases still to come, and AttemptsLeft how often the
	// round may still be taken over. Both only when nobody works on it.
	Remaining    []string
	AttemptsLeft *int64
	// WaitingOn are the unfinished processes, with the kind wait only.
	WaitingOn []Waiting
}

// Waiting is one unfinished process of a session.
type Waiting struct {
	ID   string
	Name string
	// HeartbeatAge is in seconds; nil without a readable heartbeat.
	HeartbeatAge *int64
	// Stalled: the last heartbeat is older than the threshold.
	Stalled bool
}

// nextAction decides from the completeness of a session and from its
// unfinished processes. The caller's own process is not waited for.
func (c Caller) nextAction(ctx context.Context, q *gen.Queries, s session) (NextAction, error) {
	if s.MarkedClosed {
		if s.HasTerminalArtifact {
			return NextAction{Kind: NextNone, Text: "nothing: the session is complete"}, nil
		}
		return NextAction{Kind: NextReopen, Text: "the session was closed without a result; open it again with: " + s.beginAgain()}, nil
	}
	waiting, working, err := c.unfinishedProcesses(ctx, q, s.ID)
	if err != nil {
		return NextAction{}, err
	}
	switch {
	case len(waiting) > 0:
		return waitFor(waiting), nil
	case s.HasTerminalArtifact:
		return NextAction{Kind: NextFinish, Text: fmt.Sprintf("%s %d is complete; close the session with: %s", s.unit(), s.number(), s.command("finish"))}, nil
	}
	phases, err := loadPhases(ctx, q, s.WorkflowType)
	if err != nil {
		return NextAction{}, err
	}
	remaining := phases.after(s.CurrentPhase)
	onward := s.onward(phases)
	if working {
		kind := NextAdvance
		if s.CurrentPhase == phaseSynthesis {
			kind = NextCompleteRound
		}
		return NextAction{Kind: kind, Text: "go on with: " + onward}, nil
	}
	leases, err := q.EventLeases(ctx, s.ID)
	if err != nil {
		return NextAction{}, err
	}
	left := max(0, c.Runtime.ForwardResumeMaxAttempts-leases)
	next := NextAction{Kind: NextForwardResume, Remaining: remaining, AttemptsLeft: &left,
		Text: fmt.Sprintf("nobody works on this %s; do the work of phase %s, then go on with: %s", s.unit(), s.CurrentPhase, onward)}
	if left == 0 {
		next.Kind = NextAbortOrFresh
		next.Text = fmt.Sprintf("this %s was taken over %d times without a result; look at what is there, then go on with: %s, or close it without a result with: %s",
			s.unit(), leases, onward, s.command("finish", "--abort"))
	}
	return next, nil
}

// onward is the command that ends the present phase.
func (s session) onward(phases phases) string {
	rest := phases.after(s.CurrentPhase)
	switch {
	case s.CurrentPhase == phaseSynthesis:
		return s.command("complete-"+strings.TrimSuffix(s.terminalEvent(), "_completed"), "--file FILE")
	case phases.number(s.CurrentPhase) == 0, len(rest) == 0:
		flag := map[string]string{"review": "--current-round", "map": "--current-map-run"}[s.WorkflowType]
		return s.command("advance", "--phase", phases.first(), fmt.Sprintf("%s=%d", flag, s.number()+1))
	}
	return s.command("advance", "--phase", rest[0])
}

// unfinishedProcesses lists the processes of a session that others run, and
// tells whether the caller itself is one of them.
func (c Caller) unfinishedProcesses(ctx context.Context, q *gen.Queries, sessionID string) (others []Waiting, working bool, err error) {
	rows, err := q.JournalUnfinished(ctx, sessionID)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		if c.ExecutionUID != "" && row.ID == c.ExecutionUID {
			working = true
			continue
		}
		w := Waiting{ID: row.ID, HeartbeatAge: row.HeartbeatAgeSeconds}
		if row.Name != nil {
			w.Name = *row.Name
		}
		w.Stalled = row.HeartbeatAgeSeconds != nil && *row.HeartbeatAgeSeconds > c.Runtime.HeartbeatSeconds
		others = append(others, w)
	}
	return others, working, nil
}

func waitFor(processes []Waiting) NextAction {
	names := make([]string, len(processes))
	for i, p := range processes {
		names[i] = p.ID
		if p.Name != "" {
			names[i] = p.Name + " (" + p.ID + ")"
		}
	}
	return NextAction{Kind: NextWait, WaitingOn: processes, Text: "wait for " + strings.Join(names, ", ")}
}
