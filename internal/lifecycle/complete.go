package lifecycle

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
)

// CompleteRequest brings the result of a round or run.
type CompleteRequest struct {
	SessionID string
	// Payload is the JSON text as the caller sent it.
	Payload []byte
	// Number is the round or run that is meant, 0 for the current one.
	Number int64
	// RequireFinal refuses unless the text for people lies on disk.
	RequireFinal bool
}

// CompleteResult names what was completed.
type CompleteResult struct {
	SessionID string
	// Number is the round or run.
	Number int64
	// MetaPath is the absolute path of the recorded payload.
	MetaPath string
}

// completion is what differs between a round and a run.
type completion struct {
	workflow string
	verb     string // of ocr state
	// document is the payload as it is written to disk.
	document []byte
	// record is the metadata of the terminal event.
	record any
	// metaFile and finalFile are the paths of a round or run inside the
	// session's folder.
	metaFile, finalFile func(number int64) string
	// ingest stores the payload in the tables for readers.
	ingest func(ctx context.Context, tx *db.Tx, at completedAt) error
}

// completedAt is where and when a round or run was completed.
type completedAt struct {
	session session
	number  int64
	dir     string // absolute folder of the session
	final   *string
	now     string
}

// complete records a round or run as finished: file, event, row and tables,
// all or nothing. The file is in place before the commit and is put back when
// there is none. Completing again what is complete changes nothing; it only
// writes a lost file again.
func (c Caller) complete(ctx context.Context, in CompleteRequest, kind completion) (result CompleteResult, err error) {
	var s session
	var file *artifact.Replacement
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) error {
		var err error
		if s, err = c.resolve(ctx, tx.Queries, in.SessionID); err != nil {
			return err
		}
		if s.WorkflowType != kind.workflow {
			return refuse(Invariant, KindWrongWorkflow, s.command("status"),
				"session %q is a %s: ocr state %s does not fit it", s.ID, s.WorkflowType, kind.verb)
		}
		at := completedAt{session: s, number: in.Number, dir: c.Project.SessionDir(s.SessionDir, s.ID), now: now()}
		if at.number == 0 {
			at.number = s.number()
		}
		result = CompleteResult{s.ID, at.number, filepath.Join(at.dir, filepath.FromSlash(kind.metaFile(at.number)))}

		recorded, err := tx.EventTerminalMetadata(ctx, gen.EventTerminalMetadataParams{
			SessionID: s.ID, EventType: s.terminalEvent(), Round: &at.number,
		})
		completed := err == nil
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if completed && !(s.CurrentPhase == phaseSynthesis && at.number == s.number()) {
			file, err = c.restoreLost(at, kind, recorded)
			return err
		}
		if err := at.check(kind, in.RequireFinal); err != nil {
			return err
		}
		if completed && !kind.agrees(recorded) {
			return at.differs(kind)
		}
		if file, err = c.replaceFile(at, kind); err != nil {
			return err
		}
		return kind.finish(ctx, tx, at)
	})
	if file != nil {
		if err != nil {
			return result, errors.Join(err, file.Undo())
		}
		if keepErr := file.Keep(); keepErr != nil {
			c.Notice("warning: the former file stays beside " + result.MetaPath + ": " + keepErr.Error())
		}
	}
	if err == nil {
		c.tell(s)
	}
	return result, err
}

// check holds a completion to the current round or run at synthesis.
func (at *completedAt) check(kind completion, requireFinal bool) error {
	s := at.session
	if at.number != s.number() {
		return refuse(Invariant, KindOtherNumber, s.command("status"),
			"session %q is in %s %d: %s %d cannot be completed", s.ID, s.unit(), s.number(), s.unit(), at.number)
	}
	if s.Status == "closed" {
		return refuse(Invariant, KindClosed, s.beginAgain(), "session %q is closed", s.ID)
	}
	if s.CurrentPhase != phaseSynthesis {
		return refuse(Invariant, KindNotAtSynthesis, s.command("status"),
			"session %q is in phase %s: a %s is completed from %s", s.ID, s.CurrentPhase, s.unit(), phaseSynthesis)
	}
	final := kind.finalFile(at.number)
	exists, err := artifact.Exists(at.dir, final)
	if err != nil {
		return err
	}
	path := filepath.Join(at.dir, filepath.FromSlash(final))
	if exists {
		at.final = &path
	} else if requireFinal {
		return refuse(Invariant, KindNoFinal, "write "+path+", then repeat the command", "there is no %s", path)
	}
	return nil
}

// finish writes the terminal event, moves the row and fills the tables.
func (kind completion) finish(ctx context.Context, tx *db.Tx, at completedAt) error {
	s := at.session
	phases, err := loadPhases(ctx, tx.Queries, s.WorkflowType)
	if err != nil {
		return err
	}
	metadata, err := json.Marshal(kind.record)
	if err != nil {
		return err
	}
	err = tx.EventAppend(ctx, gen.EventAppendParams{
		SessionID: s.ID, EventType: s.terminalEvent(), Phase: ptr(phaseSynthesis),
		PhaseNumber: ptr(phases.number(phaseSynthesis)), Round: &at.number, Metadata: ptr(string(metadata)), Now: at.now,
	})
	if err != nil {
		return err
	}
	last := phases.number(phaseComplete)
	err = tx.SessionMove(ctx, gen.SessionMoveParams{
		ID: s.ID, CurrentPhase: phaseComplete, PhaseNumber: last,
		CurrentRound: s.CurrentRound, CurrentMapRun: s.CurrentMapRun, Now: at.now,
	})
	if err != nil {
		return err
	}
	err = tx.EventAppend(ctx, gen.EventAppendParams{
		SessionID: s.ID, EventType: "phase_transition", Phase: ptr(phaseComplete),
		PhaseNumber: &last, Round: &at.number, Now: at.now,
	})
	if err != nil {
		return err
	}
	return kind.ingest(ctx, tx, at)
}

// restoreLost writes the file of a completed round or run again if it is gone,
// but only from a payload that says what the log says.
func (c Caller) restoreLost(at completedAt, kind completion, recorded *string) (*artifact.Replacement, error) {
	rel := kind.metaFile(at.number)
	there, err := artifact.Read(at.dir, rel)
	switch {
	case err == nil:
		if !artifact.SameDocument(there, kind.document) {
			c.Notice(fmt.Sprintf("note: %s %d of session %s is complete already; its %s stays, though this payload differs",
				at.session.unit(), at.number, at.session.ID, rel))
		}
		return nil, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !kind.agrees(recorded):
		return nil, at.differs(kind)
	}
	c.Notice(fmt.Sprintf("note: %s was lost and is written again", rel))
	return c.replaceFile(at, kind)
}

// differs refuses a payload that contradicts what is on record.
func (at completedAt) differs(kind completion) error {
	s := at.session
	return refuse(Invariant, KindOtherPayload, s.command("show"),
		"%s %d of session %q is complete, and this payload does not say what was recorded then", s.unit(), at.number, s.ID)
}

func (c Caller) replaceFile(at completedAt, kind completion) (*artifact.Replacement, error) {
	return artifact.Replace(c.Project.Dir(), at.dir, kind.metaFile(at.number), kind.document)
}

// agrees tells whether the recorded metadata holds every number and verdict of
// this payload.
func (kind completion) agrees(recorded *string) bool {
	if recorded == nil {
		return false
	}
	var then, now map[string]any
	text, err := json.Marshal(kind.record)
	if err != nil || json.Unmarshal(text, &now) != nil || json.Unmarshal([]byte(*recorded), &then) != nil {
		return false
	}
	delete(now, "source")
	for key, value := range now {
		if then[key] != value {
			return false
		}
	}
	return true
}

// dropUntold removes the rows that stand for a round or run but are not in its
// own payload.
func dropUntold(ctx context.Context, standing []int64, told map[int64]bool, drop func(context.Context, int64) error) error {
	for _, id := range standing {
		if told[id] {
			continue
		}
		if err := drop(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
