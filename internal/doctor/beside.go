package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ocr/internal/project"
	"ocr/internal/shell"
)

// placeBeside: the engine opens no log over a link, a lock on something else
// than a file of its own locks nothing, and git takes the database where the
// file that keeps it away does not.
func placeBeside(_ context.Context, x *exam) result {
	if fault := x.besideFault(); fault != "" {
		return fail(x.lookBeside(), "%s", fault)
	}
	if x.Database == "" {
		err := x.project.CheckIgnored()
		var open *project.Unignored
		switch {
		case errors.As(err, &open) && open.Appendable:
			return warn(`printf '\n*\n' >> `+shell.Quote(open.Path), "git may take the database: %v", open)
		case err != nil:
			return warn(x.lookBeside(), "git may take the database: %v", err)
		}
	}
	return ok("log, index of the log, journal and lock are files, or not there")
}

// besideFault names what stands under the name of a file beside the database
// and is none; empty when all is well.
func (x *exam) besideFault() string {
	for _, suffix := range []string{"-wal", "-shm", "-journal", ".lock"} {
		info, err := os.Lstat(x.path + suffix)
		if err != nil || info.Mode().IsRegular() {
			continue
		}
		what := "not a regular file"
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			what = "a symbolic link, " + what
		case info.IsDir():
			what = "a folder, " + what
		case info.Mode()&fs.ModeNamedPipe != 0:
			what = "a pipe, " + what
		}
		if suffix == ".lock" {
			what += ": it stops restore, snapshot, upgrades and vacuum, and what makes a snapshot first"
		}
		return fmt.Sprintf("%s is %s", x.path+suffix, what)
	}
	return ""
}

// placeSessions: a round cannot be recorded without its file.
func placeSessions(_ context.Context, x *exam) result {
	dir := x.project.Sessions()
	look := "ls -ld " + shell.Quote(dir)
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if target, linkErr := os.Readlink(dir); linkErr == nil {
			return fail(look, "%s is a symbolic link to %s, where there is nothing", dir, target)
		}
		dir = x.project.Dir()
		info, err = os.Stat(dir)
	}
	if err != nil {
		return unknown(err, look)
	}
	if !info.IsDir() {
		return fail(look, "%s is not a folder", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return unknown(err, look)
	}
	project, err := filepath.EvalSymlinks(x.project.Dir())
	if err != nil {
		return unknown(err, look)
	}
	if real != project && !strings.HasPrefix(real, project+string(filepath.Separator)) {
		return fail(look, "%s leads out of the project, to %s: nothing is written there", dir, real)
	}
	err = mayWrite(dir)
	switch {
	case errors.Is(err, syscall.EPERM):
		return fail("lsattr -d "+shell.Quote(dir), "%s cannot be written: it is marked as one that nobody may change", dir)
	case err != nil:
		return fail(look, "%s belongs to user %s and cannot be written: %v", dir, owner(info), err)
	}
	return ok("this user may write %s", dir)
}
