package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// Standing is where a database stands among the schema versions: every program
// that opens it goes by this.
type Standing struct {
	// Version is the last step in the file, 0 where its ledgers tell of none.
	Version int
	// Problem says why this program neither upgrades nor writes the file; nil
	// where it does. Mixed says that there are tables or columns of other
	// versions than Version.
	Problem *Error
	Mixed   bool
	// Remakeable says that the Problem goes once ClearMark has made views,
	// triggers and indexes again: every table and column is as it should be.
	Remakeable bool
	// SharedLedger and OwnLedger say that there are the tables schema_version
	// and schema_migrations.
	SharedLedger, OwnLedger bool
}

// Standing reads it. A file that is not ours is an *Error of
// KindForeignDatabase, one that nobody has filled yet of KindNoDatabase.
func (r *Reader) Standing(ctx context.Context) (Standing, error) {
	found, err := readOrigin(ctx, r.conn)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{SharedLedger: found.tables["schema_version"], OwnLedger: found.tables["schema_migrations"]}
	now, err := inspect(ctx, r.conn, r.path, embedded)
	s.Version, s.Remakeable = now.version(), now.remakeable
	if err == nil && now.old() {
		h, historyErr := embeddedHistory()
		if historyErr != nil {
			return s, historyErr
		}
		s.Mixed, err = h.check(ctx, r.conn, r.path, s.Version)
	}
	switch KindOf(err) {
	case KindHalfUpgraded, KindOutOfOrder, KindDirty:
		errors.As(err, &s.Problem)
		return s, nil
	}
	return s, err
}

// standing says where a database stands among the schema versions.
type standing struct {
	// migrations is the version in schema_migrations, 0 where there is none.
	migrations int
	// shared is the highest version in schema_version.
	shared int
	// latest is the highest version this program knows.
	latest int
	// dirty says that another tool left the mark of an unfinished step, although
	// every object is as the version has it.
	dirty bool
	// remakeable says that beside that mark there are faults, but only of views,
	// triggers and indexes, which can be made again without touching a row. The
	// file is refused with KindDirty all the same.
	remakeable bool
}

// version is the last step that is in the file. The shared steps are counted
// in schema_version, which every program that writes the file reads and
// writes; our own steps only in schema_migrations.
func (s standing) version() int {
	if s.migrations > SharedLatest {
		return s.migrations
	}
	return min(s.shared, SharedLatest)
}

func (s standing) absent() bool  { return s.version() == 0 }
func (s standing) current() bool { return s.version() == s.latest }
func (s standing) newer() bool   { return s.version() > s.latest }
func (s standing) old() bool     { return !s.absent() && s.version() < s.latest }

// inspect reads the standing and refuses files that are not ours, and those
// whose ledgers contradict themselves or each other; what the ledgers tell is
// returned all the same. A file that holds nothing but an empty ledger is what
// a process leaves that died while creating the database: as good as none.
func inspect(ctx context.Context, conn *sql.Conn, path string, steps fs.FS) (standing, error) {
	now := standing{latest: highest(steps)}
	found, err := readOrigin(ctx, conn)
	switch {
	case err != nil:
		return now, engineError(path, err)
	case !found.ours() && !found.begun():
		return now, foreignError(path)
	case len(found.tables) == 0:
		return now, noDatabaseError(path)
	}
	ledger, err := now.readLedgers(ctx, conn, found)
	switch {
	case engineCode(err) == lib.SQLITE_ERROR:
		return now, foreignError(path)
	case err != nil:
		return now, engineError(path, err)
	case !found.tables["schema_version"]:
		return now, halfUpgradedError(path, "it has sessions but no ledger of its schema steps (table schema_version)")
	case ledger.rows == 0 && found.begun():
		return now, noDatabaseError(path)
	case ledger.rows == 0:
		return now, halfUpgradedError(path, "its ledger schema_version is empty although there are tables")
	case found.begun():
		return now, halfUpgradedError(path, fmt.Sprintf("its ledger schema_version tells of version %d, but there is no other table", now.shared))
	case ledger.rows != ledger.steps || ledger.steps < min(now.shared, SharedLatest):
		return now, halfUpgradedError(path, fmt.Sprintf("its ledger schema_version tells of version %d but holds %d good rows of %d, not each step once", now.shared, ledger.steps, ledger.rows))
	case now.shared < min(SharedLatest, now.migrations):
		return now, halfUpgradedError(path, fmt.Sprintf("schema_migrations tells of version %d, but schema_version only of %d", now.migrations, now.shared))
	}
	if now.migrations > SharedLatest {
		for _, table := range ownTables(steps) {
			if table.step <= now.migrations && !found.tables[table.name] {
				return now, outOfOrderError(path, now.migrations, []string{fmt.Sprintf("step %d (table %s)", table.step, table.name)})
			}
		}
	}
	if !ledger.dirty {
		return now, nil
	}
	faults, remakeable, err := now.faults(ctx, conn)
	switch {
	case err != nil:
		return now, engineError(path, err)
	case len(faults) == 0:
		now.dirty = true
		return now, nil
	}
	now.remakeable = remakeable
	refused := dirtyError(path, now.migrations, faults)
	if remakeable {
		refused.Hint = "run 'ocr doctor --fix': it keeps a snapshot, makes these views, triggers and indexes again and clears the mark"
	}
	return now, refused
}

// readable is inspect for those who only read: with every table and column in
// place, a mark and the want of a view keep nobody from reading the others.
func readable(ctx context.Context, conn *sql.Conn, path string, steps fs.FS) (standing, error) {
	now, err := inspect(ctx, conn, path, steps)
	if now.remakeable && now.current() {
		return now, nil
	}
	return now, err
}

// faults are what is not as the version of the file has it; remakeable says
// that all of them are views, triggers and indexes.
func (s standing) faults(ctx context.Context, conn *sql.Conn) (faults []string, remakeable bool, err error) {
	if s.newer() {
		return []string{fmt.Sprintf("this program does not know version %d", s.version())}, false, nil
	}
	found, _, err := compareSchema(ctx, conn, s.version())
	remakeable = err == nil
	for _, d := range found {
		if d.Fault != FaultExtra {
			faults = append(faults, d.String())
			remakeable = remakeable && d.recreatable()
		}
	}
	return faults, remakeable, err
}

// ledgers is what the two ledgers hold besides the versions.
type ledgers struct {
	// rows are those of schema_version that concern the shared steps, steps
	// how many of these are different steps from 1 up.
	rows, steps int
	// dirty is the mark in schema_migrations of a step that another tool left
	// unfinished. It does not change what is in the file.
	dirty bool
}

// readLedgers reads the versions, and the rest, of those ledgers that are
// there.
func (s *standing) readLedgers(ctx context.Context, conn *sql.Conn, found origin) (l ledgers, err error) {
	if found.tables["schema_version"] {
		err = conn.QueryRowContext(ctx, `
SELECT
    IFNULL(max(CAST(version AS INTEGER)), 0),
    count(*) FILTER (WHERE typeof(version) <> 'integer' OR version <= ?1),
    count(DISTINCT version)
        FILTER (WHERE typeof(version) = 'integer' AND version BETWEEN 1 AND ?1)
FROM schema_version`, SharedLatest).Scan(&s.shared, &l.rows, &l.steps)
	}
	if err == nil && found.tables["schema_migrations"] {
		err = conn.QueryRowContext(ctx, `
SELECT
    IFNULL(max(CAST(version AS INTEGER)), 0),
    IFNULL(max(CAST(dirty AS INTEGER)), 0) <> 0
FROM schema_migrations`).Scan(&s.migrations, &l.dirty)
	}
	return l, err
}

// recordedStanding reads the ledgers as they are, without a judgement.
func recordedStanding(ctx context.Context, conn *sql.Conn) (now standing, dirty bool, err error) {
	found, err := readOrigin(ctx, conn)
	if err != nil {
		return now, false, err
	}
	l, err := now.readLedgers(ctx, conn, found)
	return now, l.dirty, err
}

// recordedVersion is the version in the ledgers, for naming a copy.
func recordedVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	now, _, err := recordedStanding(ctx, conn)
	return now.version(), err
}

// dirtyError refuses a file of which nobody can tell how far that step came.
func dirtyError(path string, step int, faults []string) *Error {
	hint := "ocr db snapshots lists what can be put in its place; ocr db recover recovered.db saves what it holds into a new file"
	if newestSnapshot(path) == "" {
		hint = "ocr db recover recovered.db saves what it holds into a new file"
	}
	return &Error{
		Kind: KindDirty, Path: path,
		Message: fmt.Sprintf("another tool left schema step %d of %s marked as unfinished (schema_migrations.dirty), and not everything is as that version has it: %s", step, path, some(faults)),
		Hint:    hint,
	}
}

func foreignError(path string) *Error {
	return &Error{
		Kind: KindForeignDatabase, Path: path,
		Message: fmt.Sprintf("%s is a database of another program", path),
		Hint:    "check the path; if the file is not meant to be here, move it aside and keep it",
	}
}

func halfUpgradedError(path, found string) *Error {
	return &Error{
		Kind: KindHalfUpgraded, Path: path,
		Message: fmt.Sprintf("%s was left half-way by another program: %s", path, found),
		Hint:    "nothing was changed; look at it with 'ocr doctor'" + orSnapshot(path),
	}
}

// outOfOrderError names steps that are recorded as done, because a later one
// is, and are not in the file.
func outOfOrderError(path string, version int, missing []string) *Error {
	return &Error{
		Kind: KindOutOfOrder, Path: path,
		Message: fmt.Sprintf("%s is recorded at schema version %d, but lacks what belongs to %s: steps were run out of order or left out", path, version, some(missing)),
		Hint:    "nothing was changed; look at it with 'ocr doctor'" + orSnapshot(path),
	}
}

// orSnapshot names the newest snapshot, if there is one.
func orSnapshot(path string) string {
	newest := newestSnapshot(path)
	if newest == "" {
		return ", and keep the file"
	}
	return ", or go on from the newest snapshot, " + newest
}

// some lists the first few of many.
func some(list []string) string {
	const few = 5
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
}

func oldError(path string, now standing) *Error {
	return &Error{
		Kind: KindOldSchema, Path: path,
		Message: fmt.Sprintf("%s is at schema version %d and this needs version %d", path, now.version(), now.latest),
		Hint:    "run 'ocr db migrate' once: it keeps a snapshot and upgrades the file",
	}
}

func newerError(path string, now standing) *Error {
	return &Error{
		Kind: KindNewerSchema, Path: path,
		Message: fmt.Sprintf("%s is at schema version %d, this program knows versions up to %d", path, now.version(), now.latest),
		Hint:    fmt.Sprintf("use a program that knows version %d; reading works with this one", now.version()),
	}
}

// highest is the highest version among the steps.
func highest(steps fs.FS) int {
	names, err := fs.Glob(steps, "schema/*.up.sql")
	if err != nil || len(names) == 0 {
		return 0
	}
	return stepNumber(names[len(names)-1])
}

// stepNumber is the version in a file name; 0 where there is none.
func stepNumber(name string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "schema/"), "_")
	version, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return version
}

// ownTable is a table that one of our own steps makes.
type ownTable struct {
	step int
	name string
}

// ownTables finds them in the text of the steps.
func ownTables(steps fs.FS) (tables []ownTable) {
	names, err := fs.Glob(steps, "schema/*.up.sql")
	if err != nil {
		return nil
	}
	for _, name := range names {
		step := stepNumber(name)
		if step <= SharedLatest {
			continue
		}
		body, err := fs.ReadFile(steps, name)
		if err != nil {
			return nil
		}
		for line := range strings.Lines(string(body)) {
			rest, found := strings.CutPrefix(line, "CREATE TABLE ")
			if table, _, _ := strings.Cut(rest, " "); found {
				tables = append(tables, ownTable{step, table})
			}
		}
	}
	return tables
}
