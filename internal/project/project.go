// Package project knows where things live on disk: the project root, the
// paths below .ocr, the configuration, the spawn markers, and which session
// ids may become folder names. It holds no SQL and prints nothing.
package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Marker is the name of the directory that marks a project.
const Marker = ".ocr"

// Project is one directory that holds a Marker directory. Root is absolute and
// free of symbolic links.
type Project struct {
	Root string
}

// NotFound says that neither Start nor any directory above it is a project.
type NotFound struct {
	Start string
}

func (e *NotFound) Error() string {
	return fmt.Sprintf("no %s directory in %s or any directory above it", Marker, e.Start)
}

// Find returns the project of the nearest directory, from start upward, that
// holds an entry named Marker. That entry decides: one that cannot be used is
// an error, never a reason to look further up, where another project's database
// would be written. The search follows the real path of start, not the links
// that led there. The error is a *NotFound, a *Blocked, or what the file system
// said about a directory that could not be looked at.
func Find(start string) (Project, error) {
	real, err := realDirectory(start)
	if err != nil {
		return Project{}, err
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		marker := filepath.Join(dir, Marker)
		_, err := os.Lstat(marker)
		switch {
		case err == nil:
			return Project{Root: dir}, usable(marker)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return Project{}, fmt.Errorf("looking for a project: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return Project{}, &NotFound{Start: real}
		}
	}
}

// usable is nil for a directory, or a link to one, that can be entered.
func usable(marker string) error {
	info, err := os.Stat(marker)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP):
		target, readErr := os.Readlink(marker)
		if readErr != nil {
			return fmt.Errorf("looking for a project: %w", err)
		}
		return &Blocked{Path: marker, What: "a symbolic link to " + target + ", where there is no directory"}
	case err != nil:
		return fmt.Errorf("looking for a project: %w", err)
	case !info.IsDir():
		return &Blocked{Path: marker}
	}
	// Whoever may not enter a directory learns nothing about what is in it.
	if _, err := os.Lstat(filepath.Join(marker, "data")); errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("looking for a project: %s cannot be entered: %w", marker, fs.ErrPermission)
	}
	return nil
}

// Dir is the Marker directory itself.
func (p Project) Dir() string { return filepath.Join(p.Root, Marker) }

// Sessions holds one directory of artifacts for each session.
func (p Project) Sessions() string { return filepath.Join(p.Dir(), "sessions") }

// Data holds the database and everything else that belongs to one machine.
func (p Project) Data() string { return filepath.Join(p.Dir(), "data") }

// Database is the SQLite file.
func (p Project) Database() string { return filepath.Join(p.Data(), "ocr.db") }

// DashboardPID holds the process id of a running dashboard.
func (p Project) DashboardPID() string { return filepath.Join(p.Data(), "dashboard.pid") }

// Config is the user's configuration.
func (p Project) Config() string { return filepath.Join(p.Dir(), "config.yaml") }

// realDirectory returns the absolute path of dir without symbolic links.
func realDirectory(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("start directory %s: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("start directory: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("start directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("start directory: %w", &fs.PathError{Op: "open", Path: real, Err: syscall.ENOTDIR})
	}
	return real, nil
}
