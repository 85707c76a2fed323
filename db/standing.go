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
	// migrations is the version in schema_migrations, 0 without a database.
	migrations int
	// shared is the highest version in schema_version.
	shared int
	// latest is the highest version this program knows.
	latest int
}

func (s standing) absent() bool  { return s.migrations == 0 }
func (s standing) current() bool { return s.migrations == s.latest }
func (s standing) newer() bool   { return s.migrations > s.latest }

// inspect reads the standing and refuses files that are not ours, or that no
// step of this program leads on from.
func inspect(ctx context.Context, conn *sql.Conn, path string, latest int) (standing, error) {
	now := standing{latest: latest}
	var application, tables, ledger, shared, core int
	err := conn.QueryRowContext(ctx, `
SELECT
    (SELECT application_id FROM pragma_application_id),
    count(*),
    count(*) FILTER (WHERE name = 'schema_migrations'),
    count(*) FILTER (WHERE name = 'schema_version'),
    count(*) FILTER (WHERE name IN ('sessions', 'orchestration_events'))
FROM sqlite_schema
WHERE type = 'table'
    AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&application, &tables, &ledger, &shared, &core)
	switch {
	case err != nil:
		return now, engineError(path, err)
	case application != 0, tables > 0 && core < 2 && (shared == 0 || tables > 1):
		return now, foreignError(path)
	case tables == 0:
		return now, noDatabaseError(path)
	case ledger == 0 || shared == 0:
		return now, tooOldError(path, "it has no record of this program's schema steps (schema_migrations)")
	}
	var rows, dirty int
	err = conn.QueryRowContext(ctx, `
SELECT
    (SELECT count(*) FROM schema_migrations),
    (SELECT IFNULL(max(CAST(version AS INTEGER)), 0) FROM schema_migrations),
    (SELECT IFNULL(max(CAST(dirty AS INTEGER)), 0) FROM schema_migrations),
    (SELECT IFNULL(max(version), 0) FROM schema_version)`).Scan(&rows, &now.migrations, &dirty, &now.shared)
	switch {
	case engineCode(err) == lib.SQLITE_ERROR:
		return now, foreignError(path)
	case err != nil:
		return now, engineError(path, err)
	case dirty != 0:
		return now, &Error{
			Kind: KindDirty, Path: path,
			Message: fmt.Sprintf("another tool left schema step %d of %s marked as unfinished (schema_migrations.dirty)", now.migrations, path),
			Hint:    "Keep the file as it is and ask whoever ran that tool; this program never sets the mark.",
		}
	case now.migrations < min(SharedLatest, latest) || now.shared < min(SharedLatest, now.migrations):
		return now, tooOldError(path, fmt.Sprintf("it is at schema version %d (schema_version %d)", now.migrations, now.shared))
	}
	return now, nil
}

func foreignError(path string) *Error {
	return &Error{
		Kind: KindForeignDatabase, Path: path,
		Message: fmt.Sprintf("%s is a database of another program", path),
		Hint:    "Check the path; if the file is not meant to be here, move it aside and keep it.",
	}
}

func tooOldError(path, why string) *Error {
	return &Error{
		Kind: KindUpgradeNotBuilt, Path: path,
		Message: fmt.Sprintf("this program cannot use %s yet: %s", path, why),
		Hint:    "The file is unchanged; go on with the program that wrote it.",
	}
}

func newerError(path string, now standing) *Error {
	return &Error{
		Kind: KindNewerSchema, Path: path,
		Message: fmt.Sprintf("%s is at schema version %d, this program knows versions up to %d", path, now.migrations, now.latest),
		Hint:    fmt.Sprintf("Use a program that knows version %d; reading works with this one.", now.migrations),
	}
}

// highest is the highest version among the steps.
func highest(steps fs.FS) int {
	names, err := fs.Glob(steps, "schema/*.up.sql")
	if err != nil || len(names) == 0 {
		return 0
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(names[len(names)-1], "schema/"), "_")
	version, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return version
}
