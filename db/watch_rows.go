package db

import (
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// rowOp is what a statement does to one row.
type rowOp int32

const (
	rowInserted rowOp = lib.SQLITE_INSERT
	rowUpdated  rowOp = lib.SQLITE_UPDATE
	rowDeleted  rowOp = lib.SQLITE_DELETE
)

// rowWrite is one row that was written.
type rowWrite struct {
	table string
	op    rowOp
	// row is its number.
	row int64
	// direct: the statement itself wrote it, no trigger and no cascade.
	direct bool
}

// watchRows tells wrote each row that the connection writes, until forget is
// called. Dropping a table tells nothing.
func watchRows(conn *sql.Conn, wrote func(rowWrite)) (forget func() error, err error) {
	register := func(hook sqlite.PreUpdateHookFn) error {
		return conn.Raw(func(driver any) error {
			hooks, ok := driver.(sqlite.HookRegisterer)
			if !ok {
				return errors.New("the engine does not tell which rows it writes")
			}
			hooks.RegisterPreUpdateHook(hook)
			return nil
		})
	}
	err = register(func(row sqlite.SQLitePreUpdateData) {
		wrote(rowWrite{row.TableName, rowOp(row.Op), row.OldRowID, row.Depth() == 0})
	})
	return func() error { return register(nil) }, err
}
