package main

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"ocr/db"
	"ocr/internal/artifact"
	"ocr/internal/doctor"
	"ocr/internal/lifecycle"
	"ocr/internal/project"
	"ocr/internal/shell"
)

// The exit codes of every command.
const (
	exitOK          = 0
	exitEnvironment = 1
	exitUsage       = 2
	exitAmbiguous   = 3
	exitNotFound    = 4
	exitTransition  = 5
	exitInvariant   = 6
	exitPayload     = 7
	exitBusy        = 8
)

// exitMeanings explains each code, in order, to people.
var exitMeanings = [...]string{
	exitOK:          "done",
	exitEnvironment: "the environment or the program failed: no project, unreadable disk, damaged file",
	exitUsage:       "the command line could not be understood; nothing was touched",
	exitAmbiguous:   "several sessions fit; name one",
	exitNotFound:    "no such session, row or file",
	exitTransition:  "the phase or round may not move there from where it is",
	exitInvariant:   "something that must be true first is not",
	exitPayload:     "the payload breaks its rules; its faults are listed",
	exitBusy:        "another process held the database for too long; try again",
}

// failure is how an error looks from outside.
type failure struct {
	Code    int    `json:"code"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Details any    `json:"details,omitempty"`
}

// explain is the one place that turns an error into an exit code, a kind that
// programs branch on, words, and the next safe thing to do.
func explain(err error) failure {
	var (
		usage    *usageError
		notFound *project.NotFound
		blocked  *project.Blocked
		badID    *project.BadID
		invalid  *artifact.Invalid
		noFile   *payloadFileError
		silence  *noPayloadError
		noBase   *noSuchDatabase
		no       *lifecycle.Error
		sick     *doctor.Unhealthy
		query    *db.StatementError
		store    *db.Error
		other    *delegationError
		output   *outputError
		late     *timeoutError
		noPlace  *spoolError
	)
	f := failure{Code: exitEnvironment, Kind: "internal", Message: err.Error(), Hint: "ocr doctor says what it finds wrong here"}
	switch {
	case errors.As(err, &usage):
		f.Code, f.Kind, f.Hint = exitUsage, "usage", usage.hint
	case errors.As(err, &other):
		f.Kind, f.Hint = "delegation", "look at that file: ls -l "+shell.Quote(other.path)
	case errors.As(err, &output):
		f.Kind, f.Hint = "output", "the command may have done its work: look (ocr state status), after stdout leads somewhere that takes it"
	case errors.As(err, &late):
		f.Kind, f.Hint = "timeout", "ask for less, or give it more time, such as --timeout 5m"
	case errors.As(err, &noPlace):
		f.Kind, f.Hint = string(db.KindIO), "name a folder with more room in TMPDIR, or ask for less"
		if errors.Is(err, syscall.ENOSPC) {
			f.Kind = string(db.KindNoSpace)
		}
	case errors.As(err, &badID):
		f.Code, f.Kind = exitUsage, "bad_session_id"
		f.Hint = "use --session-id " + shell.Quote(badID.Suggestion)
		f.Details = badIDDetails{Suggestion: badID.Suggestion}
	case errors.As(err, &no):
		f.Code, f.Kind, f.Hint, f.Details = classCodes[no.Class], no.Kind, no.Hint, no.Details
	case errors.As(err, &invalid):
		f.Code, f.Kind, f.Hint = exitPayload, "invalid_payload", "mend the payload, then repeat the command; ocr help payload explains the format"
		f.Message = invalid.Summary()
		f.Details = invalidDetails{invalid.Problems, invalid.More, invalid.Truncated}
	case errors.As(err, &silence):
		f.Code, f.Kind, f.Hint = exitPayload, "no_payload", "pipe the payload in, or name its file with --file FILE; ocr help payload explains the format"
	case errors.As(err, &noFile) && errors.Is(err, fs.ErrNotExist):
		f.Code, f.Kind, f.Hint = exitNotFound, "no_payload_file", "check the path given with --file"
	case errors.As(err, &noBase):
		f.Code, f.Kind, f.Hint = exitNotFound, string(db.KindNoDatabase), "check the path given with --db"
	case errors.Is(err, artifact.ErrOutside):
		f.Kind, f.Hint = "outside", "look at the link: ls -l shows where it leads"
	case errors.As(err, &sick):
		f.Kind, f.Hint, f.Details = "unhealthy", sick.Next(), sick
	case errors.As(err, &query):
		f.Code, f.Kind, f.Hint = exitUsage, "bad_statement", "ocr db query --help tells which statements are taken"
	case errors.As(err, &store):
		f.Code, f.Kind, f.Hint = storeCode(store), string(store.Kind), store.Hint
		switch store.Kind {
		case db.KindRule:
			// A rule that somebody else added to the file keeps the kind "rule".
			if kind, ours := lifecycle.RuleKinds[store.Rule]; ours {
				f.Kind = kind
			}
			if f.Hint == "" {
				f.Hint = "ocr doctor says what it finds wrong here"
			}
		case db.KindCorrupt:
			if f.Hint == "" {
				at := " --db " + shell.Quote(store.Path)
				f.Hint = "keep the file and its -wal and -shm files together; ocr db snapshots" + at + " lists what to go back to, ocr db recover saved.db" + at + " copies what can be read"
			}
		case db.KindConstraint:
			f.Hint = "ocr doctor --check schema names what does not belong in the schema"
		case db.KindNoDatabase:
			f.Hint = "look whether one was moved away from there (ocr doctor tells more); where none ever was, ocr state begin makes it"
		}
	case errors.As(err, &notFound):
		f.Kind = "no_project"
		f.Hint = "go to the project's directory, or name it with -C DIR or OCR_DIR"
	case errors.As(err, &blocked):
		f.Kind = "blocked"
		f.Hint = "look at what it is: ocr needs a directory of that name"
	case errors.Is(err, context.Canceled):
		f.Kind, f.Message, f.Hint = "interrupted", "stopped by a signal", "run the command again"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		f.Kind, f.Hint = string(db.KindIO), "raise the limit of open files (ulimit -n), then run the same command again"
	case errors.Is(err, fs.ErrPermission):
		f.Kind, f.Hint = "not_readable", "check the owner and the mode of the path named above"
	case errors.Is(err, fs.ErrNotExist):
		f.Kind, f.Hint = "no_such_path", "check the path named above"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		f.Kind, f.Hint = "blocked", "look at what stands at the path named above"
	}
	return f
}

// classCodes are the exit codes of the refusals of the workflow.
var classCodes = map[lifecycle.Class]int{
	lifecycle.Usage:      exitUsage,
	lifecycle.Ambiguous:  exitAmbiguous,
	lifecycle.NotFound:   exitNotFound,
	lifecycle.Transition: exitTransition,
	lifecycle.Invariant:  exitInvariant,
}

// storeCode is the exit code of a failure of the database.
func storeCode(err *db.Error) int {
	switch err.Kind {
	case db.KindBusy:
		return exitBusy
	case db.KindNoDatabase:
		return exitNotFound
	case db.KindRule, db.KindOtherRows:
		return exitInvariant
	}
	return exitEnvironment
}

type invalidDetails struct {
	Problems []artifact.Problem `json:"problems"`
	More     int                `json:"more"` // the number of the others
	// Truncated: there are even more, which nobody has counted.
	Truncated bool `json:"truncated,omitempty"`
}

type badIDDetails struct {
	Suggestion string `json:"suggestion"`
}
