package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ExpectRows holds a write statement to the number of rows that it must have
// changed. It takes the result of a generated call, and what was to be stored
// or deleted, for people:
//
//	db.ExpectRows(1, "the beat of process 7")(tx.ExecutionBeat(ctx, now, id))
//
// A trigger of somebody else can skip a row without an error. Another number
// is an *Error of KindNotRecorded, which rolls the transaction back. Rows that
// a statement skips by design are part of want.
func ExpectRows(want int64, what string) func(changed int64, err error) error {
	return func(changed int64, err error) error {
		if err != nil || changed == want {
			return err
		}
		return notRecorded(what, fmt.Sprintf("%d rows changed, not %d", changed, want))
	}
}

// ExpectRow is ExpectRows for a statement that returns the one row that it
// has written: err is the error of that call.
func ExpectRow(what string, err error) error {
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return notRecorded(what, "0 rows changed, not 1")
}

func notRecorded(what, why string) *Error {
	return &Error{
		Kind:    KindNotRecorded,
		Message: fmt.Sprintf("%s was not stored (%s), so nothing was", what, why),
		Hint:    "ocr doctor names what does not belong in the schema; when that is out of the way, run the same command again",
	}
}

// nameObstacles adds to an error of KindNotRecorded which triggers of the file
// may be to blame. It is called inside the transaction that failed, so that
// they are those that the statement has met.
func nameObstacles(ctx context.Context, conn *sql.Conn, path string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != KindNotRecorded || e.Path != "" {
		return err
	}
	others, readErr := foreignTriggers(ctx, conn)
	if readErr != nil {
		return join(err, readErr)
	}
	named := &Error{Kind: e.Kind, Path: path, Hint: e.Hint}
	named.Message = err.Error() + "; every trigger in the file is one of ours"
	if len(others) > 0 {
		named.Message = err.Error() + "; triggers in the file that are not ours: " + strings.Join(others, ", ")
	}
	return named
}

// foreignTriggers lists the triggers of a file that no version of the schema
// has, and those of our own that say something else now.
func foreignTriggers(ctx context.Context, conn *sql.Conn) ([]string, error) {
	h, err := embeddedHistory()
	if err != nil {
		return nil, err
	}
	found, err := readParts(ctx, conn, "")
	if err != nil {
		return nil, err
	}
	var others []string
	for p, have := range found {
		if p.kind != "trigger" {
			continue
		}
		ours := slices.ContainsFunc(h, func(s shape) bool { _, known := s[p]; return known })
		_, shared := h[SharedLatest][p]
		want, own := h[len(h)-1][p]
		switch {
		case !ours:
			others = append(others, fmt.Sprintf("%s (on %s)", have.name, have.table))
		case own && !shared && have.words(p.kind) != want.words(p.kind):
			others = append(others, fmt.Sprintf("%s (on %s), which was changed", have.name, have.table))
		}
	}
	slices.Sort(others)
	return others, nil
}
