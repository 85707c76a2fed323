package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Kind is the machine word for what went wrong.
type Kind string

// The kinds an *Error can have.
const (
	// KindBusy: another process held the database for the whole wait.
	// Nothing was written; the same call may be repeated.
	KindBusy Kind = "busy"
	// KindNoDatabase: there is no database yet.
	KindNoDatabase Kind = "no_database"
	// KindNotADatabase: the file is no SQLite database.
	KindNotADatabase Kind = "not_a_database"
	// KindForeignDatabase: a SQLite database of another program.
	KindForeignDatabase Kind = "foreign_database"
	// KindCorrupt: the database is damaged.
	KindCorrupt Kind = "corrupt"
	// KindUnreadable: the file is there but cannot be opened for reading.
	KindUnreadable Kind = "unreadable"
	// KindReadOnly: the file or its folder cannot be written.
	KindReadOnly Kind = "read_only"
	// KindNoSpace: the disk (or the quota) is full, or a table has no id left for
	// a new row.
	KindNoSpace Kind = "no_space"
	// KindIO: the operating system reported another input or output error.
	KindIO Kind = "io"
	// KindPathTooLong: the engine takes no path of that length.
	KindPathTooLong Kind = "path_too_long"
	// KindNewerSchema: a newer program upgraded the file; reading works.
	KindNewerSchema Kind = "newer_schema"
	// KindDirty: another tool left a schema step marked as half done.
	KindDirty Kind = "dirty"
	// KindOldSchema: the file is of an earlier version, and this way of
	// reading neither upgrades it nor a copy.
	KindOldSchema Kind = "old_schema"
	// KindHalfUpgraded: another program left the schema between two
	// versions. Nothing was changed.
	KindHalfUpgraded Kind = "half_upgraded"
	// KindOutOfOrder: a schema step is recorded as done and is not in the
	// file. Nothing was changed.
	KindOutOfOrder Kind = "steps_out_of_order"
	// KindNotRecorded: a statement changed another number of rows than it
	// must, without an error, as a trigger of somebody else can have it.
	// Nothing was stored.
	KindNotRecorded Kind = "not_recorded"
	// KindRule: a trigger of the schema refused the change; Rule says why.
	KindRule Kind = "rule"
	// KindConstraint: a CHECK, UNIQUE, NOT NULL or foreign key refused the
	// change.
	KindConstraint Kind = "constraint"
	// KindSchema: a table, view or column that a statement names is not in
	// the file.
	KindSchema Kind = "schema_damaged"
	// KindAltered: tables, columns, views or triggers are missing or say
	// something else than they should, and what was asked relies on them.
	// Nothing was changed.
	KindAltered Kind = "schema_altered"
	// KindInTheWay: something that others added to the schema keeps a migration
	// from running; Hint names the statement that moves it.
	KindInTheWay Kind = "object_in_the_way"
	// KindOtherRows: a deletion would take or change rows that it must not
	// touch. Nothing was changed.
	KindOtherRows Kind = "other_rows"
	// KindInternal: a fault in this program.
	KindInternal Kind = "internal"
)

// Error is every failure of the store that has a known kind.
type Error struct {
	Kind Kind
	// Path is the database file.
	Path string
	// Message says what happened, to what, in one sentence without a final
	// stop.
	Message string
	// Hint is the next safe thing to do, or empty: it stands behind "next: ",
	// with a small initial and no final stop.
	Hint string
	// Rule is the text of the trigger that refused; only with KindRule.
	Rule string
	// Err is the cause, or nil.
	Err error
}

func (e *Error) Error() string {
	if e.Err == nil || e.Kind == KindRule {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err, or "" when err holds no *Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// engineError gives an engine error its kind. Every other error, one that has
// its kind already and those of a context included, comes back as it is.
func engineError(path string, err error) error {
	var known *Error
	var engine *sqlite.Error
	switch {
	case err == nil, errors.As(err, &known), !errors.As(err, &engine):
		return err
	}
	e := &Error{Path: path, Err: err}
	code := engine.Code()
	switch code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return busyError(path, err)
	case lib.SQLITE_CONSTRAINT:
		constraintError(e, engine)
	case lib.SQLITE_NOTADB:
		e.Kind = KindNotADatabase
		e.Message = fmt.Sprintf("%s is not a SQLite database", path)
		e.Hint = "look at the file; if it is not meant to be here, move it aside and keep it"
	case lib.SQLITE_CORRUPT:
		e.Kind = KindCorrupt
		e.Message = fmt.Sprintf("the database %s is damaged", path)
	case lib.SQLITE_READONLY:
		return readOnlyError(path, err)
	case lib.SQLITE_FULL:
		if muchRoom(path) {
			return noIDError(path, err)
		}
		return noSpaceError(path, err)
	case lib.SQLITE_CANTOPEN, lib.SQLITE_PERM, lib.SQLITE_AUTH:
		return cannotOpenError(path, err)
	case lib.SQLITE_IOERR:
		if wantsRoom(code) && noRoom(path) {
			return noSpaceError(path, err)
		}
		e.Kind = KindIO
		e.Message = fmt.Sprintf("reading or writing %s failed", path)
		e.Hint = "check the disk and the mount that hold the file, then run the command again"
	case lib.SQLITE_INTERRUPT:
		return err
	case lib.SQLITE_ERROR:
		if !lacksPart(engine.Error()) {
			return internalError(path, err)
		}
		e.Kind = KindSchema
		e.Message = fmt.Sprintf("a part of the schema is not in %s", path)
		e.Hint = "ocr doctor --check schema names what is missing; ocr doctor --fix makes views, triggers and indexes again"
	default:
		return internalError(path, err)
	}
	return e
}

func internalError(path string, err error) *Error {
	return &Error{
		Kind: KindInternal, Path: path, Err: err,
		Message: fmt.Sprintf("the database %s refused a statement", path),
	}
}

// lacksPart reads from the engine's words, for which it has no code, that a
// table, view or column is not there.
func lacksPart(text string) bool {
	return strings.Contains(text, "no such table: ") || strings.Contains(text, "no such column: ") ||
		strings.Contains(text, " has no column named ")
}

// constraintError tells a trigger's own words (RAISE) from a constraint's.
// A RESTRICT foreign key reports the trigger code as well.
func constraintError(e *Error, engine *sqlite.Error) {
	text := engine.Error()
	text = strings.TrimPrefix(text, "constraint failed: ")
	text = strings.TrimSuffix(text, fmt.Sprintf(" (%d)", engine.Code()))
	if engine.Code() == lib.SQLITE_CONSTRAINT_TRIGGER && text != "FOREIGN KEY constraint failed" {
		e.Kind, e.Rule, e.Message = KindRule, text, text
		return
	}
	e.Kind = KindConstraint
	e.Message = fmt.Sprintf("the database %s refused a row", e.Path)
}

// busyError names the file and whoever holds it. That a wait ran out, or was
// cut off by its bound, is no news.
func busyError(path string, err error) *Error {
	return busyWith(path, Holders(path), err)
}

func busyWith(path string, holders []Holder, err error) *Error {
	if isContext(err) || engineCode(err)&0xff == lib.SQLITE_INTERRUPT {
		err = nil
	}
	return &Error{
		Kind: KindBusy, Path: path, Err: err,
		Message: fmt.Sprintf("the database %s is in use by another process%s", path, heldBy(holders)),
		Hint:    "nothing was written; run the same command again",
	}
}

func noSpaceError(path string, err error) *Error {
	return &Error{
		Kind: KindNoSpace, Path: path, Err: err,
		Message: fmt.Sprintf("no room left on the disk while working on %s", path),
		Hint:    "make room on that disk, then run the same command again",
	}
}

// noIDError: the engine has the same code for a table that has no id left for a
// new row, and that is what is likely where the disk has room.
func noIDError(path string, err error) *Error {
	return &Error{
		Kind: KindNoSpace, Path: path, Err: err,
		Message: fmt.Sprintf("%s takes no more, though the disk has room: a table may have no free id left, or a quota is used up", path),
		Hint:    "'ocr doctor --check data.sequences' names such a table; if there is none, make room, then run the same command again",
	}
}

// muchRoom says that the disk of the database has so much room that a write
// does not fill it.
func muchRoom(path string) bool {
	const plenty = 256 << 20
	free, err := FreeBytes(filepath.Dir(path))
	return err == nil && free >= plenty
}

// wantsRoom says of an extended result code that the engine wanted to write:
// it tells a full disk apart only where it writes pages of the database.
func wantsRoom(code int) bool {
	switch code {
	case lib.SQLITE_IOERR_WRITE, lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_DIR_FSYNC, lib.SQLITE_IOERR_TRUNCATE,
		lib.SQLITE_IOERR_SHMOPEN, lib.SQLITE_IOERR_SHMSIZE, lib.SQLITE_IOERR_SHMMAP:
		return true
	}
	return false
}

// noRoom says that the disk of the database has less room than the smallest
// -wal and -shm take.
func noRoom(path string) bool {
	const smallest = 64 << 10
	free, err := FreeBytes(filepath.Dir(path))
	return err == nil && free < smallest
}

func readOnlyError(path string, err error) *Error {
	return &Error{
		Kind: KindReadOnly, Path: path, Err: err,
		Message: fmt.Sprintf("cannot write to %s: the file or its folder is read-only here", path),
		Hint:    "check who may write the file and its folder",
	}
}

// cannotOpenError looks at the file itself: the engine says only that it
// could not open it.
func cannotOpenError(path string, err error) error {
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		if openErr := openSeveral(filepath.Dir(path)); tooManyFiles(openErr) {
			return fileError(path, openErr)
		}
		return fileError(path, statErr)
	case statErr != nil:
		return fileError(path, statErr)
	case info.IsDir():
		return directoryError(path)
	}
	if openErr := openSeveral(path); openErr != nil {
		return fileError(path, openErr)
	}
	return readOnlyError(path, err)
}

// openSeveral opens path as often as the engine needs open files at once: the
// database, its log and the index of that, a folder. The engine gives back
// those that it got before it tells that it lacked one.
func openSeveral(path string) error {
	const needed = 4
	for range needed {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
	}
	return nil
}

func tooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// tooManyFilesError: this process, or the whole system, has no room for one
// more open file.
func tooManyFilesError(path string, err error) *Error {
	return &Error{
		Kind: KindIO, Path: path, Err: err,
		Message: fmt.Sprintf("%s cannot be opened: too many files are open", path),
		Hint:    "raise the limit (ulimit -n), or end programs that keep many files open, then run the same command again",
	}
}

func directoryError(path string) *Error {
	return &Error{
		Kind: KindUnreadable, Path: path,
		Message: fmt.Sprintf("%s is a folder, not a database file", path),
		Hint:    "give the path of the database file itself",
	}
}

func notRegularError(path string) *Error {
	return &Error{
		Kind: KindUnreadable, Path: path,
		Message: fmt.Sprintf("%s is %s", path, whatItIs(path)),
		Hint:    "look at what stands there (ls -l) and move it elsewhere",
	}
}

func noDatabaseError(path string) *Error {
	if trace := traceOf(path); trace != "" {
		return &Error{
			Kind: KindNoDatabase, Path: path,
			Message: fmt.Sprintf("there is no database at %s, but %s is there: it may have been moved or emptied", path, trace),
			Hint:    "'ocr doctor' tells more",
		}
	}
	return &Error{
		Kind: KindNoDatabase, Path: path,
		Message: fmt.Sprintf("there is no database at %s yet", path),
		Hint:    "the first 'ocr state begin' creates it",
	}
}

// fileError gives an error of the operating system its kind.
func fileError(path string, err error) error {
	var known *Error
	switch {
	case err == nil, errors.As(err, &known), isContext(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return noDatabaseError(path)
	case errors.Is(err, fs.ErrPermission):
		return &Error{
			Kind: KindUnreadable, Path: path, Err: err,
			Message: fmt.Sprintf("no permission to open %s", path),
			Hint:    "check who may read the file and its folder",
		}
	case tooManyFiles(err):
		return tooManyFilesError(path, err)
	case errors.Is(err, syscall.EROFS):
		return readOnlyError(path, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return noSpaceError(path, err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		return &Error{
			Kind: KindUnreadable, Path: path, Err: err,
			Message: fmt.Sprintf("%s cannot be opened", path),
			Hint:    "check the path",
		}
	}
	return &Error{
		Kind: KindIO, Path: path, Err: err,
		Message: fmt.Sprintf("reading or writing %s failed", path),
		Hint:    "check the disk and the mount that hold the file, then run the command again",
	}
}

// writeFileError is fileError where the call wanted to write: there, missing
// permission means read-only.
func writeFileError(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return readOnlyError(path, err)
	}
	return fileError(path, err)
}

// engineCode is the extended result code of an engine error, else -1.
func engineCode(err error) int {
	var engine *sqlite.Error
	if errors.As(err, &engine) {
		return engine.Code()
	}
	return -1
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
