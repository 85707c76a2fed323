package journal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/history"
	"ocr/internal/lifecycle"
)

// How a process can say that it ended.
const (
	Done      = "done"
	Crashed   = "crashed"
	Cancelled = "cancelled"
)

// exitCrashed is the code of a process that reports no other.
const exitCrashed int64 = 1

// EndRequest reports how a process ended. With neither Status nor ExitCode it
// is done.
type EndRequest struct {
	ID       string
	Status   string // Done, Crashed, Cancelled or empty
	ExitCode *int64
	Note     string
}

// Ended is how the process stands in the journal.
type Ended struct {
	ID       string
	Status   string
	ExitCode *int64
	// Changed is false when it had ended already.
	Changed bool
}

// End records the end of a process. One that has ended already stays as it is:
// only a note is added, and where the journal itself had ended it, what it
// reports now. A status and a code that contradict each other are refused
// (Usage).
func End(ctx context.Context, c lifecycle.Caller, in EndRequest) (Ended, error) {
	code, err := in.exitCode()
	if err != nil {
		return Ended{}, err
	}
	var result Ended
	var entries []history.Entry
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, err := find(ctx, tx.Queries, in.ID)
		if err != nil {
			return err
		}
		result.Changed = row.EndedAt == nil
		if result.Changed {
			err = changed(row.ID)(tx.ExecutionEnd(ctx, gen.ExecutionEndParams{ExitCode: code, Now: stamp(time.Now()), ID: row.ExecutionID}))
		}
		notes := in.notes(row, code)
		for _, note := range notes {
			if err == nil {
				err = changed(row.ID)(tx.ExecutionNote(ctx, &note, row.ExecutionID))
			}
		}
		if err != nil {
			return err
		}
		if result.Changed || len(notes) > 0 {
			if entries, err = history.Collect(ctx, tx.Queries, row.ExecutionID); err != nil {
				return err
			}
		}
		after, err := tx.JournalGet(ctx, row.ExecutionID)
		result.ID, result.Status, result.ExitCode = row.ID, after.AgentJournal.Status, after.AgentJournal.ExitCode
		return err
	})
	if err != nil {
		return Ended{}, err
	}
	if !result.Changed {
		c.Notice(result.late(code))
	}
	c.Record(ctx, entries)
	return result, nil
}

// exitCode is the code to store.
func (in EndRequest) exitCode() (int64, error) {
	stored := map[string]int64{"": lifecycle.ExitDone, Done: lifecycle.ExitDone, Crashed: exitCrashed, Cancelled: lifecycle.ExitCancelled}[in.Status]
	if in.ExitCode == nil {
		return stored, nil
	}
	code := *in.ExitCode
	if givenByJournal(code) {
		return 0, refuse(lifecycle.Usage, KindBadResult, "ocr session end-instance --help",
			"the exit code %d is given by ocr alone", code)
	}
	if says := meaning(code); in.Status != "" && in.Status != says {
		return 0, refuse(lifecycle.Usage, KindBadResult, "ocr session end-instance --help",
			"the exit code %d means %s, not %s", code, says, in.Status)
	}
	return code, nil
}

// meaning is the status that the view agent_journal derives from a code that
// processes may give.
func meaning(code int64) string {
	switch code {
	case lifecycle.ExitDone:
		return Done
	case lifecycle.ExitCancelled:
		return Cancelled
	}
	return Crashed
}

// notes are the lines to add: what the caller says, and a result that came
// after the journal had ended the process, once.
func (in EndRequest) notes(row gen.AgentJournal, code int64) []string {
	var notes []string
	if in.Note != "" {
		notes = append(notes, in.Note)
	}
	if row.EndedAt != nil && endedByJournal(row.ExitCode) {
		result := fmt.Sprintf("reported late: %s, exit code %d", meaning(code), code)
		if row.Notes == nil || !strings.Contains("\n"+*row.Notes+"\n", "\n"+result+"\n") {
			notes = append(notes, result)
		}
	}
	return notes
}

func givenByJournal(code int64) bool {
	return code <= lifecycle.ExitFoundDead && code >= lifecycle.ExitOverdue
}

func endedByJournal(code *int64) bool { return code != nil && givenByJournal(*code) }

// late says that the process had ended already.
func (e Ended) late(code int64) string {
	text := fmt.Sprintf("note: process %s has ended already (%s", e.ID, e.Status)
	if e.ExitCode != nil {
		text += fmt.Sprintf(", exit code %d", *e.ExitCode)
	}
	text += ") and stays so"
	if endedByJournal(e.ExitCode) {
		text += fmt.Sprintf("; its late result (%s, exit code %d) stands in its notes", meaning(code), code)
	}
	return text
}
