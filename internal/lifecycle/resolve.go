package lifecycle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ocr/db/gen"
)

// session is one session as its row and its log tell it together.
type session struct {
	gen.StateGetRow
	// chosen says how it was picked when the caller did not name it.
	chosen string
	// trailing are the words that a command on it needs to reach the caller's
	// project.
	trailing []string
	// identity are the words that show who the caller is.
	identity []string
}

// resolve picks the session a verb works on: the named one, else the one that
// the caller's own process works for, else the only active one.
func (c Caller) resolve(ctx context.Context, q *gen.Queries, id string) (session, error) {
	if c.ExecutionUIDByFlag {
		if err := c.checkSelf(ctx, q, id); err != nil {
			return session{}, err
		}
	}
	if id != "" {
		return c.load(ctx, q, id, "")
	}
	if c.ExecutionUID != "" {
		workflow, err := q.ExecutionWorkflow(ctx, &c.ExecutionUID)
		switch {
		case err == nil && workflow != nil:
			by := "OCR_DASHBOARD_EXECUTION_UID"
			if c.ExecutionUIDByFlag {
				by = "--as"
			}
			return c.load(ctx, q, *workflow, "the session of the process that "+by+" names")
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return session{}, err
		}
	}
	active, err := q.SessionActiveIDs(ctx)
	if err != nil {
		return session{}, err
	}
	switch len(active) {
	case 0:
		return session{}, refuse(NotFound, KindNoActiveSession, "ocr state list"+c.elsewhere(), "no session is active")
	case 1:
		return c.load(ctx, q, active[0], "the only active session")
	}
	e := refuse(Ambiguous, KindSeveralActive, "ocr state list --status active"+c.elsewhere(),
		"%d sessions are active, name one with --session-id: %s", len(active), quoted(active))
	e.Details = struct {
		Candidates []string `json:"candidates"`
	}{active}
	return session{}, e
}

// checkSelf holds what --as says against the process journal: there must be
// such a process (NotFound), and it must not work for another session than the
// named one (Invariant). One that has ended may still ask.
func (c Caller) checkSelf(ctx context.Context, q *gen.Queries, id string) error {
	workflow, err := q.ExecutionWorkflow(ctx, &c.ExecutionUID)
	if errors.Is(err, sql.ErrNoRows) {
		return refuse(NotFound, KindNoProcess, "ocr session list --all"+c.elsewhere(), "there is no process %q: --as takes what start-instance printed", c.ExecutionUID)
	}
	if err != nil || id == "" || workflow == nil || *workflow == id {
		return err
	}
	return refuse(Invariant, KindOtherSession, "ocr session list --all"+c.elsewhere(),
		"process %q works for session %q, not for %q: leave --as out, or name the other session", c.ExecutionUID, *workflow, id)
}

func (c Caller) load(ctx context.Context, q *gen.Queries, id, chosen string) (session, error) {
	row, err := q.StateGet(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return session{}, refuse(NotFound, KindNoSession, "ocr state list"+c.elsewhere(), "there is no session %q", id)
	}
	if err != nil {
		return session{}, err
	}
	s := session{row, chosen, c.trailing(), c.identity()}
	return s, s.checkWorkflow()
}

// checkWorkflow refuses a row that another program left with a workflow that
// no verb knows.
func (s session) checkWorkflow() error {
	if _, known := workflows[s.WorkflowType]; known {
		return nil
	}
	return refuse(Invariant, KindUnknownWorkflow, "ocr doctor --check data.values"+behind(s.trailing),
		"session %q is neither a review nor a map but a %q: no command can work with it", s.ID, s.WorkflowType)
}

// tell says which session was picked when the caller did not name it.
func (c Caller) tell(s session) {
	if s.chosen != "" {
		c.Notice(fmt.Sprintf("note: using session %s, %s", s.ID, s.chosen))
	}
}

// quoted lists ids so that each one can be told from the words around it.
func quoted(ids []string) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Quote(id)
	}
	return strings.Join(words, ", ")
}
