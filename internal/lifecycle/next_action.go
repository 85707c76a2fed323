package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// Argv is the command that belongs to Kind as an argument list, the
	// program's own name first. Empty, never nil, when there is nothing to do.
	// complete-round and complete-map read their payload from standard input.
	Argv []string
	// Remaining are the phases still to come, and AttemptsLeft how often the
	// round may still be taken over. Both only when nobody works on it.
	Remaining    []string
	AttemptsLeft *int64
	// WaitingOn are the unfinished processes, with the kind wait only.
	WaitingOn []Process
}

// nextAction decides from the completeness of a session and from its
// unfinished processes. The caller's own process is not waited for. working
// says that the caller is at work on the session, whether it is journaled or
// not: it has just moved it.
func (c Caller) nextAction(ctx context.Context, q *gen.Queries, s session, at time.Time, working bool) (NextAction, error) {
	if s.MarkedClosed {
		if s.HasTerminalArtifact {
			return NextAction{Kind: NextNone, Text: "nothing: the session is complete", Argv: []string{}}, nil
		}
		again := s.beginAgainArgv()
		return NextAction{Kind: NextReopen, Text: "the session was closed without a result; open it again with: " + commandLine(again), Argv: again}, nil
	}
	waiting, self, err := c.unfinishedProcesses(ctx, q, s.ID, at)
	if err != nil {
		return NextAction{}, err
	}
	working = working || self != ""
	switch {
	case len(waiting) > 0:
		phases, err := loadPhases(ctx, q, s.WorkflowType)
		return s.waitFor(waiting, self, phases, working), err
	case s.HasTerminalArtifact:
		finish := s.argv("finish")
		return NextAction{
			Kind: NextFinish, Argv: finish,
			Text: fmt.Sprintf("%s %d is complete; close the session with: %s", s.unit(), s.number(), commandLine(finish)),
		}, nil
	}
	phases, err := loadPhases(ctx, q, s.WorkflowType)
	if err != nil {
		return NextAction{}, err
	}
	l, err := c.currentLease(ctx, q, s.ID, at)
	switch {
	case err != nil:
		return NextAction{}, err
	case l.lostBy(c):
		return c.lost(ctx, q, s, phases, l, at)
	case working, l.heldBy(c, self):
		next := s.goOn(phases)
		if l.heldBy(c, self) && l.inForce(at) {
			next.Text = fmt.Sprintf("this %s is yours until %s and for as long after each step; %s", s.unit(), l.until.Format(time.RFC3339), next.Text)
		}
		return next, nil
	}
	return c.stranded(ctx, q, s, phases, l, at)
}

// goOn is the next action of whoever works on the session.
func (s session) goOn(phases phases) NextAction {
	next := NextAction{Kind: NextAdvance, Argv: s.onward(phases)}
	next.Text = "do the work of phase " + s.CurrentPhase + ", then go on with: " + commandLine(next.Argv)
	if s.CurrentPhase == phaseSynthesis {
		next.Kind = NextCompleteRound
		next.Text = fmt.Sprintf("give the result of the %s as JSON on standard input to: %s", s.unit(), commandLine(next.Argv))
	}
	return next
}

// onward is the command that ends the present phase.
func (s session) onward(phases phases) []string {
	rest := phases.after(s.CurrentPhase)
	switch {
	case s.CurrentPhase == phaseSynthesis:
		return s.argv(s.workflow().verb, "--stdin")
	case len(rest) > 1 && phases.number(s.CurrentPhase) != 0:
		return s.argv("advance", "--phase", rest[0])
	case !s.hasNext():
		return s.argv("finish", "--abort")
	}
	return s.openNext(phases)
}

// openNext is the command that opens the next round or run.
func (s session) openNext(phases phases) []string {
	return s.argv("advance", "--phase", phases.first(), fmt.Sprintf("%s=%d", s.workflow().numberFlag, s.number()+1))
}

// unfinishedProcesses lists the processes of a session that others run and
// that are not proved dead, and names the one that the caller itself is; empty
// where it is none of them.
func (c Caller) unfinishedProcesses(ctx context.Context, q *gen.Queries, sessionID string, now time.Time) (others []Process, self string, err error) {
	processes, err := c.Unfinished(ctx, q, sessionID, now)
	for _, p := range processes {
		switch {
		case p.Self:
			self = p.ID
		case p.State != process.Dead:
			others = append(others, p)
		}
	}
	return others, self, err
}

// waitFor says for whom to wait; where none of them gives a sign of life, also
// how to go on without them.
func (s session) waitFor(processes []Process, self string, phases phases, working bool) NextAction {
	next := NextAction{Kind: NextWait, WaitingOn: processes}
	var names, releases []string
	heard := false
	for _, p := range processes {
		heard = heard || p.State == process.Living
		names = append(names, p.describe())
		releases = append(releases, commandLine(p.release(s.trailing)))
	}
	if heard {
		next.Text, next.Argv = "wait for "+strings.Join(names, ", "), s.argv("status")
		if self != "" {
			// Else two agents could wait for each other for good.
			next.Text += "; when your own part is done, report it with: ocr session end-instance " + shell.Quote(self) + behind(s.trailing) +
				" -- and whoever is left last moves the session on"
		}
		return next
	}
	next.Argv = processes[0].release(s.trailing)
	next.Text = "no sign of life from " + strings.Join(names, ", ") +
		"; if that work is lost, go on without it: " + strings.Join(releases, " && ")
	switch {
	case s.HasTerminalArtifact:
		next.Text += " -- and then: " + s.command("finish")
	case working:
		next.Text += " -- and then: " + commandLine(s.onward(phases))
	default:
		next.Text += " -- or take the " + s.unit() + " over with: " + s.command("resume")
	}
	return next
}

// describe names a process for people, and says what the reader does who is
// that process.
func (p Process) describe() string {
	text := p.label()
	switch {
	case p.HeartbeatEpoch == nil && p.LastHeartbeatAt != nil && !p.Proved:
		text += ", whose last heartbeat is not a valid timestamp"
	case p.State == process.Unknown:
		text += ", of which nobody can tell whether it lives: " + p.Reason
		if p.HeartbeatAge != nil && *p.HeartbeatAge > 0 {
			text += fmt.Sprintf(", last heartbeat %d seconds ago", *p.HeartbeatAge)
		}
	case p.Stalled:
		text += fmt.Sprintf(", which lives, last heartbeat %d seconds ago", *p.HeartbeatAge)
	}
	return text + " (are you that one? then add --as " + shell.Quote(p.ID) + ")"
}

// label is the name and the id of a process.
func (p Process) label() string {
	if name := p.NameText(); name != "" {
		return name + " (" + p.ID + ")"
	}
	return p.ID
}

// release is the command that ends a process which will not do so itself.
func (p Process) release(trailing []string) []string {
	verb := []string{"ocr", "session", "end-instance"}
	if strings.HasPrefix(p.ID, "-") {
		return slices.Concat(verb, []string{"--status", "crashed"}, trailing, []string{"--", p.ID})
	}
	return slices.Concat(verb, []string{p.ID, "--status", "crashed"}, trailing)
}
