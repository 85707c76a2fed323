package db

import (
	"embed"

	lib "modernc.org/sqlite/lib"
)

// SharedLatest is the highest schema version whose tables other programs
// share with us. Steps above it are our own and leave no row in
// schema_version.
const SharedLatest = 14

//go:embed schema/*.sql
var embedded embed.FS

// Latest is the highest schema version this program knows.
func Latest() int {
	return highest(embedded)
}

// SQLiteVersion is the version of the engine in this program.
func SQLiteVersion() string {
	return lib.SQLITE_VERSION
}
