package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
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
	uid := a.as
	if uid == "" {
		uid = a.getenv("OCR_DASHBOARD_EXECUTION_UID")
	}
	return lifecycle.Caller{
		Project:      p,
		Runtime:      a.runtime(p),
		StartDir:     a.fromDir(a.chdir),
		Owner:        a.ownName(),
		ExecutionUID: uid,

		ExecutionUIDByFlag: a.as != "",
		ParentPID:          int64(a.parent),
		Lease:              a.shownLease(),
		LeaseByFlag:        a.lease != "",
		Notice:             a.noteOnce,
		Progress:           a.progress(),
		Waiting:            a.statusLine(),
	}, nil
}

// asFlag declares --as as every verb on sessions and processes takes it.
func asFlag(a *app, fs *flag.FlagSet) {
	fs.Func("as", "the caller is the process `UID`, as start-instance printed it; OCR_DASHBOARD_EXECUTION_UID, if left out", func(text string) error {
		if text == "" {
			return errors.New("it takes the id that ocr session start-instance printed")
		}
		a.as = text
		return nil
	})
}

// leaseFlag declares --lease as every verb on sessions takes it. An empty token
// stands for a variable that somebody forgot to set.
func leaseFlag(a *app, fs *flag.FlagSet) {
	fs.Func("lease", "`TOKEN` of the lease that the caller holds, as resume printed it; OCR_LEASE, if left out", func(text string) error {
		if text == "" {
			return errors.New("it takes the token that ocr state resume printed")
		}
		a.lease = text
		return nil
	})
}

// shownLease is the token of the lease that the caller shows: by --lease, else
// by the environment.
func (a *app) shownLease() string {
	if a.lease != "" {
		return a.lease
	}
	return a.getenv("OCR_LEASE")
}

// ownName says who takes a lease that has no process row of its own: the
// process that called this program, which lives on.
func (a *app) ownName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return fmt.Sprintf("%s:%d", host, a.parent)
}

// callerOf is the caller for a database file, also of another project or of
// none.
func (a *app) callerOf(file string) lifecycle.Caller {
	return lifecycle.Caller{
		Project: project.Holding(file), Notice: a.noteOnce, Progress: a.progress(),
		Waiting: a.statusLine(),
	}
}

// readOptions say how the database file is read, also one of another project
// or of none.
func (a *app) readOptions(file string) db.Options { return a.callerOf(file).Options() }

// sessionFlag declares --session-id as every verb on a session takes it.
func sessionFlag(fs *flag.FlagSet) *string {
	var id string
	idFlag(fs, &id, "session-id", "`ID` of the session; the caller's own, or the only active one, if left out")
	return &id
}

// idFlag declares a flag that takes the id of a session. An empty id is
// refused: it stands for a variable that somebody forgot to set, not for a
// session that ocr may choose.
func idFlag(fs *flag.FlagSet, id *string, name, usage string) {
	fs.Func(name, usage, func(text string) error {
		if text == "" {
			return errors.New("it takes the id of a session; leave the flag out to have the session chosen")
		}
		*id = text
		return nil
	})
}

// pathFlag declares a flag that takes a path; the result is "" where the flag
// is left out. An empty path is refused: it stands for a variable that somebody
// forgot to set, not for the place that ocr takes without the flag.
func pathFlag(fs *flag.FlagSet, name, usage string) *string {
	path := new(string)
	fs.Func(name, usage, func(text string) error {
		if text == "" {
			return errors.New("it takes a path; leave the flag out to do without")
		}
		*path = text
		return nil
	})
	return path
}

// fromDir reads a path on the command line from the working directory. The
// empty path stays empty.
func (a *app) fromDir(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}
