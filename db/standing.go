package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// standing says where a database stands among the schema versions.
type standing struct {
	// migrations is the version in schema_migrations, 0 where there is none.
	migrations int
	// shared is the highest version in schema_version.
	shared int
	// latest is the highest version this program knows.
	latest int
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
// whose ledgers contradict themselves or each other. A file that holds nothing
// but an empty ledger is what a process leaves that died while creating the
// database: as good as none.
func inspect(ctx context.Context, conn *sql.Conn, path string, steps fs.FS) (standing, error) {
	now := standing{latest: highest(steps)}
	own := ownTables(steps)
	var application, tables, ledger, shared, core int
	var names string
	err := conn.QueryRowContext(ctx, `
SELECT
    (SELECT application_id FROM pragma_application_id),
    count(*),
    count(*) FILTER (WHERE name = 'schema_migrations'),
    count(*) FILTER (WHERE name = 'schema_version'),
    count(*) FILTER (WHERE name IN ('sessions', 'orchestration_events')),
    IFNULL(group_concat(name, char(10)), '')
FROM sqlite_schema
WHERE type = 'table'
    AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&application, &tables, &ledger, &shared, &core, &names)
	switch {
	case err != nil:
		return now, engineError(path, err)
	case application != 0, tables > 0 && core < 2 && (shared == 0 || tables > 1):
		return now, foreignError(path)
	case tables == 0:
		return now, noDatabaseError(path)
	case shared == 0:
		return now, halfUpgradedError(path, "it has sessions but no ledger of its schema steps (table schema_version)")
	}
	rows, below, err := now.readShared(ctx, conn)
	if err == nil && ledger > 0 {
		err = now.readOwn(ctx, conn, path)
	}
	switch {
	case engineCode(err) == lib.SQLITE_ERROR:
		return now, foreignError(path)
	case err != nil:
		return now, engineError(path, err)
	case rows == 0 && tables == 1:
		return now, noDatabaseError(path)
	case rows == 0:
		return now, halfUpgradedError(path, "its ledger schema_version is empty although there are tables")
	case tables == 1:
		return now, halfUpgradedError(path, fmt.Sprintf("its ledger schema_version tells of version %d, but there is no other table", now.shared))
	case rows != below || below < min(now.shared, SharedLatest):
		return now, halfUpgradedError(path, fmt.Sprintf("its ledger schema_version tells of version %d but holds %d good rows of %d, not each step once", now.shared, below, rows))
	case now.shared < min(SharedLatest, now.migrations):
		return now, halfUpgradedError(path, fmt.Sprintf("schema_migrations tells of version %d, but schema_version only of %d", now.migrations, now.shared))
	}
	if now.migrations > SharedLatest {
		for _, table := range own {
			if table.step <= now.migrations && !strings.Contains("\n"+names+"\n", "\n"+table.name+"\n") {
				return now, outOfOrderError(path, now.migrations, []string{fmt.Sprintf("step %d (table %s)", table.step, table.name)})
			}
		}
	}
	return now, nil
}

// readShared reads schema_version: the highest version, how many rows there
// are that concern the shared steps, and how many of these are different
// steps from 1 up.
func (s *standing) readShared(ctx context.Context, conn *sql.Conn) (rows, below int, err error) {
	err = conn.QueryRowContext(ctx, `
SELECT
    IFNULL(max(CAST(version AS INTEGER)), 0),
    count(*) FILTER (WHERE typeof(version) <> 'integer' OR version <= 14),
    count(DISTINCT version) FILTER (WHERE typeof(version) = 'integer' AND version BETWEEN 1 AND 14)
FROM schema_version`).Scan(&s.shared, &rows, &below)
	return rows, below, err
}

// readOwn reads schema_migrations.
func (s *standing) readOwn(ctx context.Context, conn *sql.Conn, path string) error {
	var dirty int
	err := conn.QueryRowContext(ctx, `
SELECT IFNULL(max(CAST(version AS INTEGER)), 0), IFNULL(max(CAST(dirty AS INTEGER)), 0)
FROM schema_migrations`).Scan(&s.migrations, &dirty)
	if err == nil && dirty != 0 {
		return &Error{
			Kind: KindDirty, Path: path,
			Message: fmt.Sprintf("another tool left schema step %d of %s marked as unfinished (schema_migrations.dirty)", s.migrations, path),
			Hint:    "keep the file as it is and ask whoever ran that tool; this program never sets the mark",
		}
	}
	return err
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
