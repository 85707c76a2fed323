package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"ocr/db"
)

// Replacement is a file that has been replaced and can still be put back. Call
// Keep once the change it belongs to is committed, Undo if it is not. The first
// of the two that succeeds decides; later calls do nothing.
type Replacement struct {
	root   *os.Root
	rights db.Rights
	target string
	// path is the file for messages.
	path string

	made    []string    // directories created, outermost first
	temp    string      // new content under a temporary name, "" if none
	aside   string      // what was there before, "" if nothing
	swapped bool        // the new content is in place
	mine    fs.FileInfo // the new file, once it is in place
	done    bool
	// owner ends with the replacement; nil when the caller keeps the Dir.
	owner *Dir
}

// ReplaceLast is Dir.Replace where Keep and Undo of the result close the directory,
// and so does a failure.
func (d *Dir) ReplaceLast(rel string, data []byte) (*Replacement, error) {
	r, err := d.Replace(rel, data)
	if err != nil {
		return nil, errors.Join(err, d.Discard())
	}
	r.owner = d
	return r, nil
}

// Replace puts data in place of the file rel, a slash path inside the
// directory, and creates the folders on the way. A reader sees either the old
// file or the whole new one, also after a crash. The old one is set aside under
// a hidden name until Keep or Undo. What programs that died have left under
// hidden names as new content of this file is removed once it is old. If Replace fails, everything is as it was.
//
// A symbolic link in place of the file is itself replaced, never followed.
func (d *Dir) Replace(rel string, data []byte) (*Replacement, error) {
	r := &Replacement{
		root:   d.root,
		rights: d.rights,
		target: path.Join(d.sub, rel),
		path:   filepath.Join(d.path, filepath.FromSlash(rel)),
	}
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, fmt.Errorf("write %s: the name leads out of the artifact folder %s", rel, d.path)
	}
	if err := r.apply(data); err != nil {
		return nil, fmt.Errorf("write %s: %w", r.path, outside(errors.Join(err, r.Undo())))
	}
	return r, nil
}

func (r *Replacement) apply(data []byte) (err error) {
	if r.made, err = makeDirs(r.root, path.Dir(r.target), r.rights); err != nil {
		return err
	}
	dropLeftovers(r.root, r.target)
	if err := r.write(data); err != nil {
		return err
	}
	if err := r.setAside(); err != nil {
		return err
	}
	if err := r.root.Rename(r.temp, r.target); err != nil {
		return err
	}
	r.temp, r.swapped = "", true
	if r.mine, err = r.root.Lstat(r.target); err != nil {
		return err
	}
	return syncDir(r.root, path.Dir(r.target))
}

func (r *Replacement) write(data []byte) error {
	name := hiddenName(r.target, newContent)
	f, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, r.rights.Creating())
	if err != nil {
		return err
	}
	r.temp = name
	err = r.rights.Give(f)
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// setAside gives the old file a second name, so that there is no moment without
// it. Where the file system has no hard links, or allows none here, a copy does.
func (r *Replacement) setAside() error {
	info, err := r.root.Lstat(r.target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("a folder of that name is there; move it elsewhere: %w", syscall.EISDIR)
	}
	name := hiddenName(r.target, oldContent)
	err = r.root.Link(r.target, name)
	if err == nil {
		r.aside = name
		return nil
	}
	if !info.Mode().IsRegular() {
		return err
	}
	return r.copyAside(name, info)
}

func (r *Replacement) copyAside(name string, info fs.FileInfo) (err error) {
	from, err := r.root.Open(r.target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	r.aside = name
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = to.Sync()
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	return r.root.Chtimes(name, info.ModTime(), info.ModTime())
}

// Undo puts back exactly what was there: the old file, or none, and no folder
// that Replace made unless somebody has used it since.
func (r *Replacement) Undo() error {
	if r.done {
		return nil
	}
	if err := r.undo(); err != nil {
		return fmt.Errorf("put %s back as it was: %w", r.path, err)
	}
	r.done = true
	if r.owner != nil {
		return r.owner.Discard()
	}
	return nil
}

func (r *Replacement) undo() error {
	if r.temp != "" {
		if err := r.root.Remove(r.temp); err != nil {
			return err
		}
		r.temp = ""
	}
	if r.swapped && r.mine != nil {
		// Once nobody holds the lock any more, another process may have put its
		// own file there: that one stays.
		now, err := r.root.Lstat(r.target)
		if err == nil && !os.SameFile(now, r.mine) {
			r.swapped = false
		}
	}
	var err error
	switch {
	case r.swapped && r.aside != "":
		err = r.root.Rename(r.aside, r.target)
	case r.swapped:
		if err = r.root.Remove(r.target); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	case r.aside != "":
		err = r.root.Remove(r.aside)
	}
	if err != nil {
		return err
	}
	changed := r.swapped
	r.aside, r.swapped = "", false
	if err := removeDirs(r.root, r.made); err != nil {
		return err
	}
	if !changed || len(r.made) > 0 {
		return nil
	}
	return syncDir(r.root, path.Dir(r.target))
}

// Keep drops what was set aside. The new file stays even if that fails.
func (r *Replacement) Keep() (err error) {
	if r.done {
		return nil
	}
	r.done = true
	if r.owner != nil {
		defer func() { err = errors.Join(err, r.owner.Close()) }()
	}
	if r.aside == "" {
		return nil
	}
	if err := r.root.Remove(r.aside); err != nil {
		return fmt.Errorf("%s is written, but the old file beside it stays as %s: %w",
			r.path, path.Base(r.aside), err)
	}
	return nil
}
