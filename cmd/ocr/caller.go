package main

import (
	"flag"
	"path/filepath"

	"ocr/internal/lifecycle"
)

// caller is the project of this call and who makes it.
func (a *app) caller() (lifecycle.Caller, error) {
	p, err := a.project()
	if err != nil {
		return lifecycle.Caller{}, err
	}
	return lifecycle.Caller{
		Project:      p,
		Runtime:      a.runtime(p),
		ExecutionUID: a.getenv("OCR_DASHBOARD_EXECUTION_UID"),
		Notice:       func(line string) { a.note("%s", line) },
	}, nil
}

// sessionFlag declares --session-id as every verb on a session takes it.
func sessionFlag(fs *flag.FlagSet) *string {
	return fs.String("session-id", "", "`ID` of the session; the caller's own, or the only active one, if left out")
}

// fromDir reads a path on the command line from the working directory. The
// empty path stays empty.
func (a *app) fromDir(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}
