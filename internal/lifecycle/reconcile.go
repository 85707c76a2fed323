package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
)

// What reconcile does with a session that contradicts itself.
const (
	// ReconcileRound writes the event that completes a closed review's round:
	// its final.md is on disk.
	ReconcileRound = "synthesize-round-completed"
	// ReconcileMap is the same for a map, whose map.md is on disk.
	ReconcileMap = "synthesize-map-completed"
	// ReconcileGrandfather writes down that a session was closed without a
	// result by a program that asked for no reason.
	ReconcileGrandfather = "grandfather"
	// ReconcileStale closes a session that nobody works on any more.
	ReconcileStale = "stale-close"
)

// StaleDays is the age of the last event, in days, above which an active
// session without an unfinished process counts as left behind.
const StaleDays = 7

const staleSeconds = StaleDays * secondsPerDay

// Reconciliation is what was repaired, or would be. No list is ever nil.
type Reconciliation struct {
	Actions []ReconcileAction
	// Unreadable are sessions that were left alone, because the time of their
	// last event is none.
	Unreadable []UnreadableSession
	// warnings are sessions that were left alone for another reason.
	warnings []string
}

// ReconcileAction is the repair of one session.
type ReconcileAction struct {
	SessionID string
	// Kind is one of the Reconcile words.
	Kind string
	// Detail says why, for people.
	Detail string

	row gen.ReconcileCandidatesRow
}

// UnreadableSession is one whose last event has no readable time.
type UnreadableSession struct {
	SessionID string
	// LastAt is the time as the log holds it.
	LastAt string
}

// Reconcile repairs sessions that older programs left contradicting
// themselves: closed ones without a result and without a reason, and active
// ones that nobody works on. Doing it again changes nothing, and without
// anything to repair nothing is opened for writing. A dry run names also what
// the upgrade of an old database would repair.
func Reconcile(ctx context.Context, c Caller, dryRun bool) (Reconciliation, error) {
	at := time.Now().UTC()
	plan, err := c.planReconcile(ctx, at, dryRun)
	if err == nil && !dryRun {
		c.KeepIgnored()
	}
	switch {
	case isMissing(err):
		return Reconciliation{Actions: []ReconcileAction{}, Unreadable: []UnreadableSession{}}, nil
	case db.KindOf(err) == db.KindOldSchema:
		// Only the upgrade can tell what is left to do.
	case err != nil || dryRun || len(plan.Actions) == 0:
		plan.warn(c)
		return plan, err
	}
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) error {
		var err error
		if plan, err = c.reconcilable(ctx, tx.Queries, at); err != nil {
			return err
		}
		return plan.apply(ctx, tx, at)
	})
	plan.warn(c)
	return plan, err
}

// planReconcile finds out what there is to do. For a dry run it reads an old
// database as it will be after the upgrade, and counts what that repairs.
func (c Caller) planReconcile(ctx context.Context, at time.Time, dryRun bool) (plan Reconciliation, err error) {
	find := func(ctx context.Context, r *db.Reader) error {
		var err error
		plan, err = c.reconcilable(ctx, r.Queries, at)
		return err
	}
	if !dryRun {
		return plan, db.Read(ctx, c.Project.Database(), find)
	}
	var upgrade Reconciliation
	opt := c.options(false)
	opt.Reconcile = func(ctx context.Context, tx *db.Tx) (lines []string, err error) {
		if upgrade, err = c.reconcilable(ctx, tx.Queries, at); err != nil {
			return nil, err
		}
		return nil, upgrade.apply(ctx, tx, at)
	}
	err = db.ReadUpgraded(ctx, c.Project.Database(), opt, find)
	plan.Actions = append(upgrade.Actions, plan.Actions...)
	slices.SortStableFunc(plan.Actions, func(a, b ReconcileAction) int { return strings.Compare(a.SessionID, b.SessionID) })
	return plan, err
}

// reconcileInUpgrade is the repair inside the upgrade of an old database.
func (c Caller) reconcileInUpgrade(ctx context.Context, tx *db.Tx) (lines []string, err error) {
	at := time.Now().UTC()
	plan, err := c.reconcilable(ctx, tx.Queries, at)
	if err != nil {
		return nil, err
	}
	if err := plan.apply(ctx, tx, at); err != nil {
		return nil, err
	}
	return plan.lines(), nil
}

// reconcilable decides about each session that contradicts itself.
func (c Caller) reconcilable(ctx context.Context, q *gen.Queries, at time.Time) (Reconciliation, error) {
	plan := Reconciliation{Actions: []ReconcileAction{}, Unreadable: []UnreadableSession{}}
	rows, err := q.ReconcileCandidates(ctx, at.Unix(), staleSeconds)
	if err != nil {
		return plan, err
	}
	for _, row := range rows {
		switch row.Verdict {
		case "unreadable":
			plan.Unreadable = append(plan.Unreadable, UnreadableSession{row.SessionID, row.LastAt})
		case "stale":
			detail := "it has no events"
			if row.LastAt != "" {
				detail = "its last event was at " + row.LastAt
			}
			plan.add(row, ReconcileStale, detail+" and no process works for it: closed without a result")
		default:
			if _, known := workflows[row.WorkflowType]; !known {
				plan.warnings = append(plan.warnings, fmt.Sprintf("warning: session %s is left as it is: it is neither a review nor a map", row.SessionID))
				continue
			}
			result, kind := artifact.RoundFinal(row.CurrentRound), ReconcileRound
			if row.WorkflowType == "map" {
				result, kind = artifact.MapFinal(row.CurrentMapRun), ReconcileMap
			}
			there, err := artifact.Exists(c.Project.SessionDir(row.SessionDir, row.SessionID), result)
			switch {
			case err != nil:
				plan.warnings = append(plan.warnings, fmt.Sprintf("warning: session %s is left as it is: %v", row.SessionID, err))
			case there:
				plan.add(row, kind, "it was closed without its completing event, and "+result+" is there")
			default:
				plan.add(row, ReconcileGrandfather, "it was closed without a result and without a reason, and "+result+" is not there")
			}
		}
	}
	return plan, nil
}

func (r *Reconciliation) add(row gen.ReconcileCandidatesRow, kind, detail string) {
	r.Actions = append(r.Actions, ReconcileAction{SessionID: row.SessionID, Kind: kind, Detail: detail, row: row})
}

// apply writes the repairs.
func (r Reconciliation) apply(ctx context.Context, tx *db.Tx, at time.Time) error {
	now := at.Format(time.DateTime)
	for _, action := range r.Actions {
		if err := action.apply(ctx, tx, now); err != nil {
			return fmt.Errorf("session %q: %w", action.SessionID, err)
		}
	}
	return nil
}

func (a ReconcileAction) apply(ctx context.Context, tx *db.Tx, now string) error {
	event := gen.EventAppendParams{SessionID: a.SessionID, Now: now}
	switch a.Kind {
	case ReconcileRound, ReconcileMap:
		phases, err := loadPhases(ctx, tx.Queries, a.row.WorkflowType)
		if err != nil {
			return err
		}
		event.EventType, event.Round = workflows[a.row.WorkflowType].terminalEvent, &a.row.CurrentRound
		event.Metadata = ptr(`{"source":"reconciled","synthesized_from":"final.md"}`)
		if a.Kind == ReconcileMap {
			event.Round = &a.row.CurrentMapRun
			event.Metadata = ptr(`{"source":"reconciled","synthesized_from":"map.md"}`)
		}
		event.Phase, event.PhaseNumber = ptr(phaseSynthesis), ptr(phases.number(phaseSynthesis))
	case ReconcileGrandfather:
		event.EventType, event.Phase = "session_legacy_import", ptr(phaseComplete)
		event.Metadata = ptr(`{"source":"reconciled"}`)
	case ReconcileStale:
		event.EventType, event.Phase = "session_auto_closed_stale", ptr(phaseComplete)
		event.Metadata = ptr(fmt.Sprintf(`{"source":"reconciled","threshold_seconds":%d}`, staleSeconds))
	}
	if err := appendEvent(ctx, tx, event); err != nil || a.Kind != ReconcileStale {
		return err
	}
	if a.row.RowIsBehind {
		err := rowOf(a.SessionID)(tx.ReconcileNumbers(ctx, gen.ReconcileNumbersParams{
			ID: a.SessionID, CurrentRound: a.row.CurrentRound, CurrentMapRun: a.row.CurrentMapRun,
		}))
		if err != nil {
			return err
		}
	}
	return rowOf(a.SessionID)(tx.ReconcileClose(ctx, now, a.SessionID))
}

// lines tells people, one line for each kind of repair.
func (r Reconciliation) lines() []string {
	var lines []string
	for _, kind := range []string{ReconcileRound, ReconcileMap, ReconcileGrandfather, ReconcileStale} {
		var ids []string
		for _, action := range r.Actions {
			if action.Kind == kind {
				ids = append(ids, action.SessionID)
			}
		}
		if len(ids) > 0 {
			lines = append(lines, fmt.Sprintf("reconciled with it: %s, %d sessions: %s", kind, len(ids), someOf(ids)))
		}
	}
	var unreadable []string
	for _, session := range r.Unreadable {
		unreadable = append(unreadable, session.SessionID)
	}
	if len(unreadable) > 0 {
		lines = append(lines, fmt.Sprintf("left alone, because the time of their last event is none: %s", someOf(unreadable)))
	}
	return append(lines, r.warnings...)
}

// someOf lists the first few of many ids.
func someOf(ids []string) string {
	const few = 10
	if len(ids) <= few {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:few], ", "), len(ids)-few)
}

func (r Reconciliation) warn(c Caller) {
	for _, line := range r.warnings {
		c.Notice(line)
	}
}
