package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// RealPath is where the database at path stands once every symbolic link on the
// way is followed: its log, its lock file and its snapshots stand beside that.
// A path of which only the folder exists keeps its name. One that leads nowhere
// comes back as it is, and whatever opens it says so.
//
// Each call of this package follows the links once and works on the result, so
// that a link changed meanwhile cannot mix the files of two databases.
func RealPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	if _, err := os.Lstat(abs); err == nil {
		return abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(dir, filepath.Base(abs))
	}
	return abs
}

// maxEnginePath is the longest path in bytes, that of the rollback journal
// included, that the engine takes: MAX_PATHNAME in its os_unix.c. On Windows it
// takes whatever the system does.
const maxEnginePath = 512

// checkLength refuses a path that the engine could not open, whatever is there.
func checkLength(path string) error {
	const longest = maxEnginePath - len("-journal")
	if runtime.GOOS == "windows" || len(path) <= longest {
		return nil
	}
	return &Error{
		Kind: KindPathTooLong, Path: path,
		Message: fmt.Sprintf("the path %s is too long for the database engine: it has %d bytes, and %d can be used", path, len(path), longest),
		Hint:    "move the project to a folder with a shorter path",
	}
}

// danglingError judges a database that is not there: nil, unless a symbolic
// link in its place, or in that of its folder, leads to nothing. A new database
// made there, or made in the place of the link, would hide the one that is meant.
func danglingError(path string) error {
	for _, at := range []string{path, filepath.Dir(path)} {
		target, err := os.Readlink(at)
		if err != nil {
			continue
		}
		if _, err := os.Stat(at); err == nil {
			continue
		}
		return &Error{
			Kind: KindUnreadable, Path: path,
			Message: fmt.Sprintf("%s is a symbolic link to %s, where there is nothing", at, target),
			Hint:    "look whether that disk or folder is missing at the moment; ls -l shows the link",
		}
	}
	return nil
}

// whatItIs names what stands at a path instead of a regular file.
func whatItIs(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "not a regular file"
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link, not a regular file"
	case info.IsDir():
		return "a folder, not a regular file"
	case info.Mode()&fs.ModeNamedPipe != 0:
		return "a pipe, not a regular file"
	}
	return "not a regular file"
}

// lstat looks at a file that must stand at its own name: the engine follows no
// link to a log, and a lock on a file elsewhere would lock nothing.
func lstat(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, notRegularError(path)
	}
	return info, err
}

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
