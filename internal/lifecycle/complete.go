package lifecycle

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"

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
	// Warnings are remarks on the payload.
	Warnings artifact.Warnings
	// Changed is false when it was complete already and its file is there.
	Changed bool
	// PayloadDiffers: it was complete already, and the recorded payload, which
	// stays, is another one.
	PayloadDiffers bool
	// Kept are rows that this payload does not have, and that stay because
	// people wrote on them. Never nil.
	Kept []KeptRow
	Outlook
}

// outcome is the result of a round or run, and what differs between the two.
type outcome struct {
	workflow string
	// document is the payload as it is written to disk.
	document []byte
	// facts are the metadata of the terminal event.
	facts any
	// warnings are remarks on the payload.
	warnings artifact.Warnings
	// metaFile and finalFile are the paths of a round or run inside the
	// session's folder.
	metaFile, finalFile func(number int64) string
	// ingest stores the payload in the tables for readers.
	ingest func(ctx context.Context, tx *db.Tx, to target) error
}

// target is the round or run that an outcome is recorded for.
type target struct {
	session session
	number  int64
	dir     string // absolute folder of the session
	clock   time.Time
	mark    *string // metadata of the move, see lease.mark
	final   *string // absolute path of the text for people, if there is one
	now     string
	// kept collects the rows that no payload has any more and that stay.
	kept *[]KeptRow
}

// complete records a round or run as finished: file, event, row and tables,
// all or nothing. The file is in place before the commit and is put back when
// there is none. Completing again what is complete changes nothing; it only
// writes a lost file again.
func (c Caller) complete(ctx context.Context, in CompleteRequest, out outcome) (result CompleteResult, err error) {
	var to target
	var file *artifact.Replacement
	var outlook Outlook
	var differs, recording bool
	kept := []KeptRow{}
	err = c.write(ctx, false, func(ctx context.Context, tx *db.Tx) (err error) {
		if to, err = c.choose(ctx, tx, in, out); err != nil {
			return err
		}
		held, err := c.checkLease(ctx, tx.Queries, to.session, to.clock)
		if err != nil {
			return err
		}
		to.mark = held.mark()
		recorded, complete, err := to.recorded(ctx, tx)
		if err != nil {
			return err
		}
		if complete && !to.atSynthesis() {
			if file, differs, err = c.restoreLost(ctx, tx, to, out, recorded); err != nil {
				return err
			}
			outlook, err = c.outlook(ctx, tx.Queries, to.session.ID, to.clock)
			return err
		}
		if to.final, err = to.ready(out, in.RequireFinal); err != nil {
			return err
		}
		// Another program can have led a completed round back to synthesis. It
		// is completed again only as it was; the event stays the only one.
		if complete && !out.agrees(recorded) {
			return to.differs()
		}
		if file, err = c.replaceFile(ctx, tx, to, out); err != nil {
			return err
		}
		recording = true
		to.kept = &kept
		written := false
		defer func() {
			// Nobody else can have put a file there while the lock is held.
			if !written {
				err = errors.Join(err, file.Undo())
			}
		}()
		if err = out.record(ctx, tx, to, complete); err == nil {
			outlook, err = c.outlook(ctx, tx.Queries, to.session.ID, to.clock)
		}
		written = err == nil
		return err
	})
	if err != nil {
		if file != nil {
			err = errors.Join(err, file.Undo())
		}
		return CompleteResult{}, err
	}
	if file != nil {
		if err := file.Keep(); err != nil {
			c.Notice("warning: " + err.Error())
		}
	}
	c.tell(to.session)
	c.noteKept(kept)
	return CompleteResult{
		SessionID: to.session.ID, Number: to.number, MetaPath: to.path(out.metaFile),
		Changed: recording || file != nil, PayloadDiffers: differs, Kept: kept, Warnings: out.warnings, Outlook: outlook,
	}, nil
}

// choose picks the session and the round or run.
func (c Caller) choose(ctx context.Context, tx *db.Tx, in CompleteRequest, out outcome) (target, error) {
	s, err := c.resolve(ctx, tx.Queries, in.SessionID)
	if err != nil {
		return target{}, err
	}
	if s.WorkflowType != out.workflow {
		return target{}, refuse(Invariant, KindWrongWorkflow, s.command("status"),
			"session %q is a %s: ocr state %s does not fit it", s.ID, s.WorkflowType, workflows[out.workflow].verb)
	}
	to := target{session: s, number: in.Number, dir: c.Project.SessionDir(s.SessionDir, s.ID), clock: time.Now().UTC()}
	to.now = stamp(to.clock)
	if to.number == 0 {
		to.number = s.number()
	}
	return to, nil
}

// path is the absolute path of one of the files of the round or run.
func (to target) path(file func(number int64) string) string {
	return filepath.Join(to.dir, filepath.FromSlash(file(to.number)))
}

// atSynthesis: the round or run is the current one, in its last working phase.
func (to target) atSynthesis() bool {
	return to.session.CurrentPhase == phaseSynthesis && to.number == to.session.number()
}

// recorded is what the event that completed the round or run says; complete is
// false while there is none.
func (to target) recorded(ctx context.Context, tx *db.Tx) (metadata *string, complete bool, err error) {
	metadata, err = tx.EventTerminalMetadata(ctx, gen.EventTerminalMetadataParams{
		SessionID: to.session.ID, EventType: to.session.terminalEvent(), Round: &to.number,
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return metadata, err == nil, err
}

// ready holds a completion to the current round or run at synthesis. It
// returns the path of the text for people if that is there.
func (to target) ready(out outcome, requireFinal bool) (final *string, err error) {
	s := to.session
	if to.number != s.number() {
		return nil, refuse(Invariant, KindOtherNumber, s.command("status"),
			"session %q is in %s %d: %s %d cannot be completed", s.ID, s.unit(), s.number(), s.unit(), to.number)
	}
	if s.Status == "closed" {
		return nil, refuse(Invariant, KindClosed, s.beginAgain(), "session %q is closed", s.ID)
	}
	if s.CurrentPhase != phaseSynthesis {
		return nil, refuse(Invariant, KindNotAtSynthesis, s.command("status"),
			"session %q is in phase %s: a %s is completed from %s", s.ID, s.CurrentPhase, s.unit(), phaseSynthesis)
	}
	exists, err := artifact.Exists(to.dir, out.finalFile(to.number))
	if err != nil {
		return nil, err
	}
	path := to.path(out.finalFile)
	switch {
	case exists:
		return &path, nil
	case requireFinal:
		return nil, refuse(Invariant, KindNoFinal, "write "+path+", then repeat the command", "there is no %s", path)
	}
	return nil, nil
}

// record writes the terminal event, unless the log has it already, moves the
// row and fills the tables.
func (out outcome) record(ctx context.Context, tx *db.Tx, to target, logged bool) error {
	s := to.session
	phases, err := loadPhases(ctx, tx.Queries, s.WorkflowType)
	if err != nil {
		return err
	}
	if err := openUnlogged(ctx, tx, s.ID, to.now); err != nil {
		return err
	}
	metadata, err := json.Marshal(out.facts)
	if err != nil {
		return err
	}
	if !logged {
		err = appendEvent(ctx, tx, gen.EventAppendParams{
			SessionID: s.ID, EventType: s.terminalEvent(), Phase: ptr(phaseSynthesis),
			PhaseNumber: ptr(phases.number(phaseSynthesis)), Round: &to.number, Metadata: ptr(string(metadata)), Now: to.now,
		})
		if err != nil {
			return err
		}
	}
	last := phases.number(phaseComplete)
	err = s.rowChanged(tx.SessionMove(ctx, gen.SessionMoveParams{
		ID: s.ID, CurrentPhase: phaseComplete, PhaseNumber: last,
		CurrentRound: s.CurrentRound, CurrentMapRun: s.CurrentMapRun, Now: to.now,
	}))
	if err != nil {
		return err
	}
	err = appendEvent(ctx, tx, gen.EventAppendParams{
		SessionID: s.ID, EventType: "phase_transition", Phase: ptr(phaseComplete),
		PhaseNumber: &last, Round: &to.number, Metadata: to.mark, Now: to.now,
	})
	if err != nil {
		return err
	}
	return out.ingest(ctx, tx, to)
}

// restoreLost writes the file of a completed round or run again if it is gone,
// but only from a payload that says what the log says. It tells whether the
// file is there and holds another payload.
func (c Caller) restoreLost(ctx context.Context, tx *db.Tx, to target, out outcome, recorded *string) (file *artifact.Replacement, differs bool, err error) {
	rel := out.metaFile(to.number)
	there, err := artifact.Read(to.dir, rel)
	switch {
	case err == nil:
		if differs = !artifact.SameDocument(there, out.document); differs {
			c.Notice(fmt.Sprintf("note: %s %d of session %s is complete already; its %s stays, though this payload differs",
				to.session.unit(), to.number, to.session.ID, rel))
		}
		return nil, differs, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, false, err
	case !out.agrees(recorded):
		return nil, false, to.differs()
	}
	c.Notice(fmt.Sprintf("note: %s was lost and is written again", rel))
	file, err = c.replaceFile(ctx, tx, to, out)
	return file, false, err
}

// differs refuses a payload that contradicts what is on record.
func (to target) differs() error {
	s := to.session
	return refuse(Invariant, KindOtherPayload, s.command("show"),
		"%s %d of session %q is complete, and this payload does not say what was recorded then", s.unit(), to.number, s.ID)
}

// replaceFile puts the payload into the session's folder, which must be its own.
func (c Caller) replaceFile(ctx context.Context, tx *db.Tx, to target, out outcome) (*artifact.Replacement, error) {
	if err := c.checkFolder(to.session, to.dir); err != nil {
		return nil, err
	}
	dir, err := c.openFolder(to.dir)
	if err != nil {
		return nil, err
	}
	file := out.metaFile(to.number)
	if err := c.checkFolderFree(ctx, tx.Queries, to.session.ID, to.dir, path.Dir(file)); err != nil {
		return nil, errors.Join(err, dir.Discard())
	}
	return dir.ReplaceLast(file, out.document)
}

// agrees tells whether the recorded metadata holds every number and verdict of
// this payload.
func (out outcome) agrees(recorded *string) bool {
	if recorded == nil {
		return false
	}
	var then, now map[string]any
	text, err := json.Marshal(out.facts)
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
