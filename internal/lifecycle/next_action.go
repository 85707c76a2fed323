package lifecycle

import (
	"context"
	"fmt"
	"strings"

	"ocr/db/gen"
	"ocr/internal/process"
	"ocr/internal/shell"
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
	// Live: it counts as being at work, see Caller.Live.
	Live bool
	// Verdict is what a look at the process itself says.
	Verdict process.Verdict
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
	next := NextAction{Kind: NextForwardResume, Remaining: remaining, AttemptsLeft: &left}
	if left == 0 {
		next.Kind = NextAbortOrFresh
	}
	next.Text, err = c.strandedText(ctx, q, s, onward, phases.first(), leases, left)
	return next, err
}

// onward is the command that ends the present phase.
func (s session) onward(phases phases) string {
	rest := phases.after(s.CurrentPhase)
	switch {
	case s.CurrentPhase == phaseSynthesis:
		return s.command(s.workflow().verb, "--file FILE")
	case len(rest) != 0 && phases.number(s.CurrentPhase) != 0:
		return s.command("advance", "--phase", rest[0])
	case !s.hasNext():
		return s.command("finish", "--abort")
	}
	return s.command("advance", "--phase", phases.first(), fmt.Sprintf("%s=%d", s.workflow().numberFlag, s.number()+1))
}

// unfinishedProcesses lists the processes of a session that others run, and
// tells whether the caller itself is one of them.
func (c Caller) unfinishedProcesses(ctx context.Context, q *gen.Queries, sessionID string) (others []Waiting, working bool, err error) {
	rows, err := q.JournalUnfinished(ctx, &sessionID)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		p := row.AgentJournal
		if c.ExecutionUID != "" && p.ID == c.ExecutionUID {
			working = true
			continue
		}
		w := Waiting{ID: p.ID, HeartbeatAge: p.HeartbeatAgeSeconds, Stalled: c.Stalled(p), Live: c.Live(p), Verdict: c.Judge(p)}
		if p.Name != nil {
			w.Name = *p.Name
		}
		others = append(others, w)
	}
	return others, working, nil
}

// waitFor says for whom to wait; where none of them gives a sign of life, also
// how to go on without them.
func waitFor(processes []Waiting) NextAction {
	next := NextAction{Kind: NextWait, WaitingOn: processes}
	var names, releases []string
	heard := false
	for _, p := range processes {
		heard = heard || p.Live && p.HeartbeatAge != nil
		names = append(names, p.describe())
		releases = append(releases, p.release())
	}
	next.Text = "wait for " + strings.Join(names, ", ")
	if !heard {
		next.Text = "no sign of life from " + strings.Join(names, ", ") +
			"; if that work is lost, go on without it: " + strings.Join(releases, " && ")
	}
	return next
}

// describe names a process for people.
func (w Waiting) describe() string {
	text := w.ID
	if w.Name != "" {
		text = w.Name + " (" + w.ID + ")"
	}
	switch {
	case w.Verdict.State == process.Dead:
		text += ", which is dead: " + w.Verdict.Reason
	case w.Live && w.HeartbeatAge == nil:
		text += ", whose last heartbeat is no time"
	case w.Stalled:
		text += fmt.Sprintf(", last heard of %d seconds ago", *w.HeartbeatAge)
	}
	return text
}

// release is the command that ends a process which will not do so itself.
func (w Waiting) release() string {
	if strings.HasPrefix(w.ID, "-") {
		return "ocr session end-instance --status crashed -- " + shell.Quote(w.ID)
	}
	return "ocr session end-instance " + shell.Quote(w.ID) + " --status crashed"
}
