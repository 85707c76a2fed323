package db

import (
	"os"
	"time"
)

// freshLock is the age up to which a lock file may belong to a process that is
// making the database right now.
const freshLock = 5 * time.Second

// traceOf names what stands beside path and tells of a database that was there
// before; empty if there is nothing.
func traceOf(path string) string {
	if newestSnapshot(path) != "" {
		return "a snapshot"
	}
	info, err := os.Lstat(path + ".lock")
	if err == nil && time.Since(info.ModTime()) > freshLock {
		return "the lock file"
	}
	return ""
}
