package lifecycle

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
	"ocr/internal/history"
	"ocr/internal/project"
)

// SyncResult says what was taken in. No list is ever nil.
type SyncResult struct {
	Sessions []SyncedSession
	Skipped  []SkippedFolder
	// Processes counts the rows that came back from the recovery log, BadLines
	// the lines of it that are none.
	Processes int64
	BadLines  int
	// Kept are rows that the payloads found on disk do not have, and that stay
	// because people wrote on them.
	Kept []KeptRow
}

// SyncedSession is one session that was found on disk only.
type SyncedSession struct {
	SessionID string
	Workflow  string
	Round     int64
	MapRun    int64
	Phase     string
	// Texts counts the markdown files that were stored.
	Texts int

	kept []KeptRow
}

// SkippedFolder is a folder that is no session, or could not be read.
type SkippedFolder struct {
	Name   string
	Reason string
}

// Sync makes rows for the folders below .ocr/sessions that have none: closed
// sessions, in the round or run and the phase that their files tell. Payloads
// and texts of these folders are stored with them. Sessions that have a row
// stay as they are. Each folder is taken in whole or not at all; one that
// cannot be read, whose name can be no id, or that the rules of the database
// refuse, is passed over with a warning.
// Where the database knows no process at all, ended ones come back from the
// recovery log. It makes a missing database.
func Sync(ctx context.Context, c Caller) (SyncResult, error) {
	result := SyncResult{Sessions: []SyncedSession{}, Skipped: []SkippedFolder{}, Kept: []KeptRow{}}
	if err := c.upToDate(ctx, true); err != nil {
		return result, err
	}
	var rows []gen.SyncKnownRow
	var processes bool
	err := c.read(ctx, func(ctx context.Context, r *db.Reader) error {
		var err error
		if processes, err = r.ExecutionAny(ctx); err != nil {
			return err
		}
		rows, err = r.SyncKnown(ctx)
		return err
	})
	if err != nil {
		return result, err
	}
	strange, err := c.strangeFolders(rows)
	if err != nil {
		return result, err
	}
	var lost []history.Entry
	if !processes {
		lost, result.BadLines = c.recoveryLog()
	}
	if len(strange)+len(lost) == 0 {
		return result, nil
	}
	err = c.series(ctx, true, func(store *db.Store) error {
		for _, entry := range strange {
			found, err := c.look(entry)
			if err != nil {
				result.skip(c, entry, err)
			}
			if err != nil || found == nil {
				continue
			}
			taken, err := c.takeIn(ctx, store, *found)
			if refused(err) {
				result.skip(c, entry, err)
				continue
			}
			if err != nil {
				return err
			}
			if taken != nil {
				result.Sessions = append(result.Sessions, *taken)
				result.Kept = append(result.Kept, taken.kept...)
				c.noteKept(taken.kept)
			}
		}
		result.Processes, err = restore(ctx, store, lost)
		return err
	})
	return result, err
}

func (r *SyncResult) skip(c Caller, entry os.DirEntry, why error) {
	r.Skipped = append(r.Skipped, SkippedFolder{entry.Name(), why.Error()})
	c.Notice(fmt.Sprintf("warning: the folder %s is passed over: %v", entry.Name(), why))
}

// refused tells whether err is about one folder only: the next may be taken in.
func refused(err error) bool {
	var no *Error
	kind := db.KindOf(err)
	return errors.As(err, &no) || kind == db.KindRule || kind == db.KindConstraint
}

// strangeFolders lists what lies below .ocr/sessions and belongs to no row,
// neither by its name nor as the folder of a session of another name.
func (c Caller) strangeFolders(rows []gen.SyncKnownRow) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(c.Project.Sessions())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for sessions on disk: %w", err)
	}
	if len(entries) == 0 {
		return nil, nil
	}
	known := map[string]bool{}
	for _, row := range rows {
		known[filepath.Join(c.Project.Sessions(), row.ID)] = true
		known[filepath.Clean(c.Project.SessionDir(row.SessionDir, row.ID))] = true
	}
	var strange []os.DirEntry
	for _, entry := range entries {
		if !known[filepath.Join(c.Project.Sessions(), entry.Name())] {
			strange = append(strange, entry)
		}
	}
	return strange, nil
}

// find is a folder that will become a session.
type find struct {
	id, dir, workflow string
	round, run        int64
	// finished: the newest round or run has its text for people.
	finished bool
	rounds   []foundRound
	runs     []foundRun
	texts    []artifact.Markdown
}

// foundRound and foundRun are payloads on disk, with the path of the text for
// people beside them, if any.
type foundRound struct {
	number  int64
	final   *string
	payload *artifact.Round
}

type foundRun struct {
	number  int64
	final   *string
	payload *artifact.Map
}

// look reads a folder; nil when it holds nothing that makes it a session.
func (c Caller) look(entry os.DirEntry) (f *find, err error) {
	dir := filepath.Join(c.Project.Sessions(), entry.Name())
	if entry.Type()&fs.ModeSymlink != 0 {
		return nil, errors.New("it is a symbolic link")
	}
	if !entry.IsDir() {
		return nil, nil
	}
	if err := project.CheckNewID(entry.Name()); err != nil {
		return nil, err
	}
	found, err := artifact.Find(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if found.Empty() {
		return nil, nil
	}
	f = &find{id: entry.Name(), dir: dir, workflow: "review", round: highest(found.Rounds), run: 1}
	f.finished = found.Has(artifact.RoundFinal(f.round))
	if found.HasMap && !found.HasRounds {
		f.workflow, f.round, f.run = "map", 1, highest(found.Runs)
		f.finished = found.Has(artifact.MapFinal(f.run))
	}
	for _, n := range found.Rounds {
		data, err := readPayload(found, artifact.RoundMeta(n))
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		payload, err := artifact.ParseRound(data)
		if c.sound(found, artifact.RoundMeta(n), err) {
			f.rounds = append(f.rounds, foundRound{n, pathIn(found, artifact.RoundFinal(n)), payload})
		}
	}
	for _, n := range found.Runs {
		data, err := readPayload(found, artifact.MapMeta(n))
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		payload, err := artifact.ParseMap(data)
		if c.sound(found, artifact.MapMeta(n), err) {
			f.runs = append(f.runs, foundRun{n, pathIn(found, artifact.MapFinal(n)), payload})
		}
	}
	texts, tooLarge, err := found.Markdown()
	for _, name := range tooLarge {
		c.Notice(fmt.Sprintf("warning: %s is too large and is not stored", found.Path(name)))
	}
	f.texts = texts
	return f, err
}

// readPayload reads the payload of a round or run; nil when there is none.
func readPayload(found *artifact.Found, name string) ([]byte, error) {
	if !found.Has(name) {
		return nil, nil
	}
	return found.Read(name)
}

// pathIn is the absolute path of a file that is there, else nil.
func pathIn(found *artifact.Found, name string) *string {
	if !found.Has(name) {
		return nil
	}
	return ptr(found.Path(name))
}

// sound warns about a payload that is not.
func (c Caller) sound(found *artifact.Found, meta string, err error) bool {
	if err != nil {
		c.Notice(fmt.Sprintf("warning: %s is not stored: %v", found.Path(meta), err))
	}
	return err == nil
}

// highest is the last of ascending numbers, 1 when there is none.
func highest(numbers []int64) int64 {
	if len(numbers) == 0 {
		return 1
	}
	return numbers[len(numbers)-1]
}

// syncRecord is the metadata of session_synced, shared with other programs but
// for the number, which only we write.
type syncRecord struct {
	Source string `json:"source"`
	Round  int64  `json:"round,omitempty"`
	MapRun int64  `json:"map_run,omitempty"`
}

// takeIn makes one folder a session; nil when it has become one meanwhile.
func (c Caller) takeIn(ctx context.Context, store *db.Store, f find) (taken *SyncedSession, err error) {
	err = store.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		at := now()
		_, err := tx.StateGet(ctx, f.id)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := c.checkUnlogged(ctx, tx, f.id); err != nil {
			return err
		}
		if err := c.checkFolderFree(ctx, tx.Queries, f.id, f.dir, ""); err != nil {
			return err
		}
		phases, err := loadPhases(ctx, tx.Queries, f.workflow)
		if err != nil {
			return err
		}
		phase := phases.first()
		if f.finished {
			phase = phaseComplete
		}
		record := syncRecord{Source: "filesystem_backfill", Round: f.round}
		if f.workflow == "map" {
			record.Round, record.MapRun = 0, f.run
		}
		metadata, err := json.Marshal(record)
		if err != nil {
			return err
		}
		err = rowOf(f.id)(tx.SyncInsert(ctx, gen.SyncInsertParams{
			ID: f.id, Branch: branchOf(f.id), WorkflowType: f.workflow, CurrentPhase: phase, PhaseNumber: phases.number(phase),
			CurrentRound: f.round, CurrentMapRun: f.run, Now: at, SessionDir: f.dir,
		}))
		if err != nil {
			return err
		}
		err = appendEvent(ctx, tx, gen.EventAppendParams{
			SessionID: f.id, EventType: "session_synced", Phase: &phase, PhaseNumber: ptr(phases.number(phase)),
			Metadata: ptr(string(metadata)), Now: at,
		})
		if err != nil {
			return err
		}
		if err := rowOf(f.id)(tx.SyncClose(ctx, f.id)); err != nil {
			return err
		}
		taken = &SyncedSession{SessionID: f.id, Workflow: f.workflow, Round: f.round, MapRun: f.run, Phase: phase, Texts: len(f.texts)}
		return f.ingest(ctx, tx, at, &taken.kept)
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// ingest stores the payloads and texts of a folder for readers. A payload is
// the orchestrator's word, whoever finds it.
func (f find) ingest(ctx context.Context, tx *db.Tx, at string, kept *[]KeptRow) error {
	where := target{session: session{StateGetRow: gen.StateGetRow{ID: f.id}}, dir: f.dir, now: at, kept: kept}
	for _, round := range f.rounds {
		where.number, where.final = round.number, round.final
		if err := ingestRound(ctx, tx, where, round.payload); err != nil {
			return err
		}
	}
	for _, run := range f.runs {
		where.number, where.final = run.number, run.final
		if err := ingestMap(ctx, tx, where, run.payload); err != nil {
			return err
		}
	}
	for _, text := range f.texts {
		row := gen.MarkdownUpsertParams{
			SessionID: f.id, ArtifactType: text.Kind, FilePath: text.Path, Content: text.Text, Now: at,
		}
		if text.Round != 0 {
			row.RoundNumber = &text.Round
		}
		changed, err := tx.MarkdownUpsert(ctx, row)
		if err == nil && changed == 0 {
			// A text that is there already is left as it is.
			changed, err = tx.MarkdownStored(ctx, gen.MarkdownStoredParams{
				SessionID: f.id, ArtifactType: text.Kind, RoundNumber: row.RoundNumber, FilePath: text.Path, Content: text.Text,
			})
		}
		if err := db.ExpectRows(1, "the text "+text.Path)(changed, err); err != nil {
			return err
		}
	}
	return nil
}

// recoveryLog reads what the log knows of ended processes. A log that cannot be
// read is worth a warning, no more.
func (c Caller) recoveryLog() (entries []history.Entry, badLines int) {
	log, err := history.Replay(history.Path(c.Project.Data()))
	if err != nil {
		c.Notice("warning: the log of processes is passed over: " + err.Error())
	}
	if log.Bad > 0 {
		c.Notice(fmt.Sprintf("warning: %d lines of the log of processes cannot be read", log.Bad))
	}
	return log.Entries, log.Bad
}

// restore brings ended processes back, unless any is known by now.
func restore(ctx context.Context, store *db.Store, lost []history.Entry) (restored int64, err error) {
	if len(lost) == 0 {
		return 0, nil
	}
	err = store.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		restored = 0
		if known, err := tx.ExecutionAny(ctx); err != nil || known {
			return err
		}
		for _, entry := range lost {
			// There is no row yet, and the log names each process once.
			if err := db.ExpectRows(1, "the process "+entry.UID)(tx.ExecutionRestore(ctx, entry.Row())); err != nil {
				return err
			}
			restored++
		}
		return nil
	})
	return restored, err
}

// branchOf is the id without the day that it may start with.
func branchOf(id string) string {
	const day = "2006-01-02-"
	if len(id) <= len(day) {
		return id
	}
	for i, want := range day {
		if want == '-' && id[i] != '-' || want != '-' && !strings.ContainsRune("0123456789", rune(id[i])) {
			return id
		}
	}
	return id[len(day):]
}
