package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Salvaged says what was saved from a damaged database, and what was not.
type Salvaged struct {
	// Complete: every page and row that belongs to a table could be read and
	// was saved, and the new file has every view, trigger and index of its
	// schema version. Rows of which no trace is left cannot be known.
	Complete bool `json:"complete"`
	// Tables are in the order in which the file lists them.
	Tables []SalvagedTable `json:"tables"`
	// UnplacedPages hold UnplacedRows rows that fit no table, or several.
	UnplacedPages int64 `json:"unplaced_pages"`
	UnplacedRows  int64 `json:"unplaced_rows"`
	// Notes say what else a person should know.
	Notes []string `json:"notes"`
}

// SalvagedTable is what became of one table.
type SalvagedTable struct {
	Name string `json:"name"`
	// Saved rows are in the new file; Loose ones among them were found in
	// pages that nothing led to any more.
	Saved int64 `json:"saved"`
	Loose int64 `json:"loose"`
	// Lost rows stood in readable pages and could not be read.
	Lost int64 `json:"lost"`
	// Refused rows could be read and break a rule of their table.
	Refused int64 `json:"refused"`
	// Skipped are the row numbers that stood in unreadable pages; not each of
	// them need have been a row.
	Skipped []RowRange `json:"skipped"`
}

// Salvage reads what it can from the database at source, however damaged, and
// makes a new database of it at target, which must not exist. The source is
// only read, from a private copy. The new file appears whole or not at all;
// its schema is that of the source, with the views, triggers and indexes that
// its version has and without the mark of an unfinished step; the next opening
// for writing upgrades it where needed. The error is an *Error when nothing could be saved.
func Salvage(ctx context.Context, source, target string) (result Salvaged, err error) {
	if err := mustBeFree(target); err != nil {
		return result, err
	}
	source = RealPath(source)
	dir, remove, err := privateDir()
	if err != nil {
		return result, copyError(source, err)
	}
	defer func() { err = join(err, remove()) }()
	s := &salvage{source: source, result: Salvaged{Tables: []SalvagedTable{}, Notes: []string{}}}
	file := filepath.Join(dir, "ocr.db")
	if err := s.copyTo(ctx, file); err != nil {
		return result, err
	}
	s.pages, err = openPages(file)
	if err != nil {
		return result, fileError(source, err)
	}
	defer func() { err = join(err, s.pages.close()) }()
	made, err := passingFile(target, RightsOf(source))
	if err != nil {
		return result, err
	}
	defer func() { err = join(err, removeMade(made)) }()
	if err := engineError(target, s.build(ctx, made)); err != nil {
		return result, err
	}
	return s.result, place(made, target)
}

// mustBeFree refuses a target that exists, or beside which a log stands: the
// engine would play that log into the new file.
func mustBeFree(target string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		_, err := os.Lstat(target + suffix)
		switch {
		case err == nil:
			return &fs.PathError{Op: "create", Path: target + suffix, Err: fs.ErrExist}
		case !errors.Is(err, fs.ErrNotExist):
			return writeFileError(target, err)
		}
	}
	return nil
}

// passingFile makes the empty file, beside target, that becomes it, with the
// rights of the damaged database.
func passingFile(target string, rights Rights) (made string, err error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".ocr-recover-")
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", writeFileError(target, err)
	}
	if err := join(rights.Give(f), f.Close()); err != nil {
		return "", join(writeFileError(target, err), removeMade(f.Name()))
	}
	return f.Name(), nil
}

// place gives the finished file its name; a file that has that name by now
// stays.
func place(made, target string) error {
	var disk realDisk
	if err := disk.sync(made); err != nil {
		return writeFileError(target, err)
	}
	err := disk.link(made, target)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &fs.PathError{Op: "create", Path: target, Err: fs.ErrExist}
	case err != nil:
		return writeFileError(target, err)
	}
	return disk.sync(filepath.Dir(target))
}

func removeMade(path string) error {
	var disk realDisk
	return join(disk.remove(path), disk.remove(path+"-journal"))
}

// salvage is one call of Salvage.
type salvage struct {
	source string
	pages  *pageFile
	result Salvaged
	// seen are the pages that some tree leads to, free those that hold
	// nothing any more.
	seen, free map[int]bool
	// broken says that a part of the schema could not be read.
	broken bool
	// unguarded says that a view, trigger or index of this program's schema
	// could not be made.
	unguarded bool
	tables    []*lostTable
	others    []Object
}

// copyTo copies the file and its logs. One that others go on changing is
// copied as it is at last: much of it will still be readable.
func (s *salvage) copyTo(ctx context.Context, file string) error {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, err := lookAt(s.source)
		if err != nil {
			return err
		}
		for _, suffix := range []string{"", "-wal", "-journal"} {
			if err := (realDisk{}).remove(file + suffix); err != nil {
				return copyError(s.source, err)
			}
			err := copyFile(s.source+suffix, file+suffix)
			if err != nil && !(suffix != "" && os.IsNotExist(err)) {
				return s.copyFailure(err)
			}
		}
		after, err := lookAt(s.source)
		if err == nil && after.same(before) {
			if before.wal == nil && before.shm != nil {
				s.note("the write-ahead log (-wal) is missing beside a -shm file: the last changes may be missing")
			}
			return s.rollBack(ctx, file, before)
		}
		if try == quietTries {
			s.note("the file was changing while it was copied")
			return nil
		}
		if err := pause(ctx, quietPause); err != nil {
			return err
		}
	}
}

// copyFailure tells a source that cannot be read from a copy that cannot be
// written.
func (s *salvage) copyFailure(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && path.Path == s.source {
		return fileError(s.source, err)
	}
	return copyError(s.source, err)
}

// rollBack lets the engine undo, in the copy, what an unfinished transaction
// with a rollback journal has left.
func (s *salvage) rollBack(ctx context.Context, file string, before files) error {
	if before.journal == nil {
		return nil
	}
	err := connectAndRun(ctx, s.source, file, "mode=rw", func(ctx context.Context, conn *sql.Conn) error {
		var tables int
		return conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	})
	if err != nil {
		s.note("the rollback journal could not be used (%v): an unfinished transaction may show", err)
	}
	return ctx.Err()
}

func (s *salvage) note(format string, args ...any) {
	s.result.Notes = append(s.result.Notes, fmt.Sprintf(format, args...))
}

// build makes the new file at path.
func (s *salvage) build(ctx context.Context, path string) (err error) {
	if err := s.readSchema(ctx); err != nil {
		return err
	}
	dsn, err := address(path, "mode=rw", "_pragma=foreign_keys(0)")
	if err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	defer func() { err = join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = join(err, conn.Close()) }()
	begin := func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
		return err
	}
	if err := inTransaction(ctx, conn, begin, func() error { return s.fill(ctx, conn) }); err != nil {
		return err
	}
	return s.judge(ctx, conn)
}

// fill makes the tables, their rows, and then everything that could have
// refused one of them.
func (s *salvage) fill(ctx context.Context, conn *sql.Conn) error {
	if err := s.copyMarks(ctx, conn); err != nil {
		return err
	}
	var usable []*lostTable
	for _, t := range s.tables {
		if t.name == "sqlite_sequence" {
			continue
		}
		if err := t.create(ctx, conn); err != nil {
			s.note("the table %s was not made: %v", t.name, err)
			continue
		}
		usable = append(usable, t)
	}
	for _, t := range usable {
		if err := t.fromTree(ctx, s); err != nil {
			return err
		}
	}
	if err := s.loosePages(ctx, usable); err != nil {
		return err
	}
	saved := int64(0)
	for _, t := range usable {
		if err := t.close(); err != nil {
			return err
		}
		s.result.Tables = append(s.result.Tables, t.outcome())
		saved += t.result.Saved
	}
	if saved == 0 {
		return nothingError(s.source)
	}
	if err := s.sequences(ctx, conn); err != nil {
		return err
	}
	if err := s.withoutMark(ctx, conn); err != nil {
		return err
	}
	for _, o := range s.others {
		if _, err := conn.ExecContext(ctx, o.SQL); err != nil {
			s.note("the %s %s was not made: %v", o.Type, o.Name, err)
		}
	}
	if err := s.remake(ctx, conn); err != nil {
		return err
	}
	return ctx.Err()
}

// copyMarks keeps the two numbers by which programs know their files.
func (s *salvage) copyMarks(ctx context.Context, conn *sql.Conn) error {
	user, application := s.marks()
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", user, application))
	return err
}

// sequences keeps the highest row number that each table has ever given out.
func (s *salvage) sequences(ctx context.Context, conn *sql.Conn) error {
	for _, t := range s.tables {
		if t.name != "sqlite_sequence" || t.root == 0 {
			continue
		}
		w := &walk{pages: s.pages, seen: s.seen, row: func(row storedRow) error {
			if len(row.values) != 2 {
				return nil
			}
			_, err := conn.ExecContext(ctx, `
DELETE FROM sqlite_sequence WHERE name = ?1 AND seq < ?2;
INSERT INTO sqlite_sequence (name, seq)
SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)`, row.values[0], row.values[1])
			return err
		}}
		if err := w.down(t.root, everything); err != nil {
			return err
		}
		if len(w.skipped) > 0 || w.lost > 0 {
			s.note("the record of row numbers once given out (sqlite_sequence) is damaged: deleted rows' numbers may be used again")
		}
	}
	return nil
}

// judge checks the new file and says whether all was saved.
func (s *salvage) judge(ctx context.Context, conn *sql.Conn) error {
	found, err := integrityCheck(ctx, conn, 10)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &Error{
			Kind: KindInternal, Path: s.source,
			Message: fmt.Sprintf("the new database is not sound: %s", some(found)),
			Hint:    "the damaged file is unchanged; report this",
		}
	}
	var orphans int64
	err = conn.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&orphans)
	if err != nil {
		return err
	}
	if orphans > 0 {
		s.note("%d rows refer to rows that are not there", orphans)
	}
	r := &s.result
	r.Complete = !s.broken && !s.unguarded && r.UnplacedPages == 0
	for _, t := range r.Tables {
		r.Complete = r.Complete && t.Lost == 0 && t.Refused == 0 && len(t.Skipped) == 0
	}
	for _, t := range s.tables {
		r.Complete = r.Complete && (t.made || t.name == "sqlite_sequence")
	}
	return nil
}

func nothingError(source string) *Error {
	return &Error{
		Kind: KindCorrupt, Path: source,
		Message: fmt.Sprintf("nothing could be saved from %s: no page of it holds rows of a known table", source),
		Hint:    "keep the file and look for a snapshot " + filepath.Base(source) + snapshotMark + "*",
	}
}
