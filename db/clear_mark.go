package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// clearMark takes away the mark of an unfinished step that another tool left
// on a sound file, and says so. The look at the file and the change are one
// transaction.
func (o opener) clearMark(ctx context.Context, conn *sql.Conn) error {
	begin := func(ctx context.Context, conn *sql.Conn) error { return o.waits.begin(ctx, o.path, conn) }
	cleared, version := false, 0
	err := inTransaction(ctx, conn, begin, func() error {
		now, err := inspect(ctx, conn, o.path, o.steps)
		if err != nil || !now.dirty {
			return err
		}
		damage, err := quickCheck(ctx, conn, 1)
		if err != nil {
			return err
		}
		if len(damage) > 0 {
			return dirtyError(o.path, now.migrations, damage)
		}
		if _, err := conn.ExecContext(ctx, "UPDATE schema_migrations SET dirty = 0"); err != nil {
			return err
		}
		_, dirty, err := recordedStanding(ctx, conn)
		if err == nil && dirty {
			err = dirtyError(o.path, now.migrations, []string{"something keeps the mark from being cleared: " + strings.Join(ledgerTriggers(ctx, conn), ", ")})
		}
		cleared, version = true, now.version()
		return err
	})
	if err == nil && cleared && o.opt.Notice != nil {
		o.opt.Notice(fmt.Sprintf("note: %s was marked as unfinished by another tool (schema_migrations.dirty); the mark was cleared, because every object is as version %d has it", o.path, version))
	}
	return err
}

// ledgerTriggers names the triggers on schema_migrations.
func ledgerTriggers(ctx context.Context, conn *sql.Conn) []string {
	found, err := names(ctx, conn, "SELECT 'trigger ' || name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'schema_migrations'")
	if err != nil {
		return nil
	}
	return found
}
