package db

import (
	"context"
	"database/sql"
	"strings"
)

// withoutMark takes the mark of an unfinished step out of the new file: the
// programs that go by it would refuse the file.
func (s *salvage) withoutMark(ctx context.Context, conn *sql.Conn) error {
	_, dirty, err := recordedStanding(ctx, conn)
	if err != nil || !dirty {
		// A ledger of another make has no mark.
		return ctx.Err()
	}
	if _, err := conn.ExecContext(ctx, "UPDATE schema_migrations SET dirty = 0"); err != nil {
		return err
	}
	s.note("the file was marked as unfinished (schema_migrations.dirty); the new one is not: compare it with 'ocr doctor' once it is in place")
	return nil
}

// remake makes the views, triggers and indexes that the version of the new file
// has and the source had not, or altered: rows without their guards are not
// what was saved.
func (s *salvage) remake(ctx context.Context, conn *sql.Conn) error {
	version, err := recordedVersion(ctx, conn)
	if err != nil || version < 1 || version > Latest() {
		s.unguarded = true
		s.note("its schema version is not known to this program: views, triggers and indexes are those that were found")
		return ctx.Err()
	}
	done, err := recreateAll(ctx, conn, version)
	if err != nil {
		return err
	}
	if len(done.Made) > 0 {
		s.note("missing or altered in the source, made as schema version %d has them: %s", version, strings.Join(done.Made, ", "))
	}
	for _, failed := range done.Failed {
		s.unguarded = true
		s.note("missing or altered, and could not be made: %s", failed)
	}
	return nil
}
