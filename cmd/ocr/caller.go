package main

import (
	"errors"
	"flag"
	"path/filepath"

	"ocr/db"
	"ocr/internal/lifecycle"
	"ocr/internal/project"
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
		Progress:     a.progress(),
	}, nil
}

// readOptions say how the database file is read, also one of another project
// or of none.
func (a *app) readOptions(file string) db.Options {
	caller := lifecycle.Caller{
		Project: project.Holding(file), Notice: func(line string) { a.note("%s", line) }, Progress: a.progress(),
	}
	return caller.Options()
}

// sessionFlag declares --session-id as every verb on a session takes it. An
// empty id is refused: it stands for a variable that somebody forgot to set,
// not for a session that ocr may choose.
func sessionFlag(fs *flag.FlagSet) *string {
	var id string
	fs.Func("session-id", "`ID` of the session; the caller's own, or the only active one, if left out", func(text string) error {
		if text == "" {
			return errors.New("it takes the id of a session; leave the flag out to have the session chosen")
		}
		id = text
		return nil
	})
	return &id
}

// fromDir reads a path on the command line from the working directory. The
// empty path stays empty.
func (a *app) fromDir(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}
