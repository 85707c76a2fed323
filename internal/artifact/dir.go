package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"ocr/db"
)

// ErrOutside says that a symbolic link leads out of the folder that may be
// written.
var ErrOutside = errors.New("a symbolic link leads out of the folder that may be written; " +
	"put a real folder in its place, or choose the folder openly with --session-dir")

// Dir is the artifact directory of one session, open for writing.
type Dir struct {
	root *os.Root
	// rights are those of all that is made in it.
	rights db.Rights
	// sub is the directory inside root, as a slash path.
	sub string
	// path is the same directory for messages.
	path string
	// made are the directories that opening created, outermost first: those
	// above root, and those inside it.
	base       *os.Root
	madeAbove  []string
	madeInside []string
}

// OpenDir opens the artifact directory dir for writing and creates it, with
// its parents, where it is missing; all that is made gets these rights. If that fails, nothing stays behind.
//
// A dir inside boundary, the .ocr folder, is written through a root that no
// symbolic link can leave: boundary/sessions if dir lies there, else boundary
// itself. A dir elsewhere was chosen by a person: it is its own root, and links
// on the way to it are theirs. The error is ErrOutside where a link leads out.
func OpenDir(rights db.Rights, boundary, dir string) (*Dir, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", dir, err)
	}
	d := &Dir{path: full, rights: rights}
	if err := d.open(locate(boundary, full)); err != nil {
		return nil, fmt.Errorf("open the artifact folder %s for writing: %w", full, outside(err))
	}
	return d, nil
}

// place is where a directory lies: base exists, fence is the part below it that
// writing may not leave, sub is the rest.
type place struct {
	base, fence, sub string
	// inside: it lies inside the boundary.
	inside bool
}

// Inside reports whether dir lies in the folder boundary, judged by the path
// and not by the links below the boundary: those writing does not follow.
func Inside(boundary, dir string) bool {
	full, err := filepath.Abs(dir)
	return err == nil && locate(boundary, full).inside
}

// locate looks upward from dir for boundary. It compares folders, not their
// spelling, so that a project reached over a link is still the same project.
func locate(boundary, dir string) place {
	limit, limitErr := os.Stat(boundary)
	base := ""
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && base == "" {
			base = at
		}
		if err == nil && limitErr == nil && os.SameFile(info, limit) {
			below := relative(at, dir)
			if rest, ok := strings.CutPrefix(below, "sessions/"); ok {
				return place{at, "sessions", rest, true}
			}
			return place{at, ".", below, true}
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return place{base, relative(base, dir), ".", false}
}

// relative is the slash path from an ancestor, or from dir itself, to dir.
func relative(ancestor, dir string) string {
	below := strings.TrimPrefix(dir[len(ancestor):], string(filepath.Separator))
	if below == "" {
		return "."
	}
	return filepath.ToSlash(below)
}

func (d *Dir) open(p place) (err error) {
	if d.base, err = os.OpenRoot(p.base); err != nil {
		if info, statErr := os.Stat(p.base); statErr == nil && !info.IsDir() {
			// The error of OpenRoot has no kind in this case.
			err = &fs.PathError{Op: "open", Path: p.base, Err: syscall.ENOTDIR}
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Discard())
		}
	}()
	if d.madeAbove, err = makeDirs(d.base, p.fence, d.rights); err != nil {
		return err
	}
	if d.root, err = d.base.OpenRoot(p.fence); err != nil {
		return err
	}
	d.sub = p.sub
	d.madeInside, err = makeDirs(d.root, p.sub, d.rights)
	return err
}

// Close ends the access. A Replacement must be kept or undone before.
func (d *Dir) Close() error {
	if d.root == nil {
		return d.base.Close()
	}
	return errors.Join(d.root.Close(), d.base.Close())
}

// Discard removes the directories that opening created, unless somebody has
// used them since, and ends the access.
func (d *Dir) Discard() error {
	var inside error
	if d.root != nil {
		inside = removeDirs(d.root, d.madeInside)
	}
	return errors.Join(inside, removeDirs(d.base, d.madeAbove), d.Close())
}

// makeDirs creates the missing directories of a slash path and returns them,
// outermost first. If it fails it removes what it made.
func makeDirs(root *os.Root, name string, rights db.Rights) (made []string, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, removeDirs(root, made))
			made = nil
		}
	}()
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		at := name[:i]
		info, err := root.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			err = rights.MakeDirIn(root, at)
			if err == nil {
				made = append(made, at)
				err = syncDir(root, path.Dir(at))
			}
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return made, err
			}
			info, err = root.Stat(at)
		}
		if err != nil {
			return made, err
		}
		if !info.IsDir() {
			return made, fmt.Errorf("%s is there and is no folder: %w", at, syscall.ENOTDIR)
		}
	}
	return made, nil
}

// removeDirs takes back what makeDirs made. A directory somebody has put
// something into stays.
func removeDirs(root *os.Root, made []string) error {
	var errs []error
	for i := len(made) - 1; i >= 0; i-- {
		err := root.Remove(made[i])
		// A directory that is not empty counts as existing.
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// syncDir makes the names in a directory durable. Windows has no such call for
// directories.
func syncDir(root *os.Root, name string) (err error) {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}

// outside adds ErrOutside to the error os.Root gives for a path that leaves it,
// which has a fixed text and no exported value.
func outside(err error) error {
	if err != nil && strings.Contains(err.Error(), "path escapes from parent") {
		return fmt.Errorf("%w (%w)", ErrOutside, err)
	}
	return err
}
