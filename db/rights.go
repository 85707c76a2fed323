package db

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Rights are the mode, the owner and the group that every file gets that is
// made beside a database, or about it: those of the database itself. Nobody may
// read or change more through a copy, a log or a lock than through the database.
type Rights struct {
	// mode is that of the database; zero where there is none, and then a new
	// file gets what the system gives to one.
	mode fs.FileMode
	// owner is whom it belongs to; for root, without a database, whom its
	// folder belongs to.
	owner owner
}

// RightsOf reads the rights of the database at path.
func RightsOf(path string) Rights {
	path = RealPath(path)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return Rights{mode: info.Mode().Perm() & 0o666, owner: ownerOf(info)}
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			if o := ownerOf(info); o.rootFor() {
				return Rights{owner: o}
			}
			return Rights{}
		}
		if dir == filepath.Dir(dir) {
			return Rights{}
		}
	}
}

// private are the rights of a copy for this process alone.
var private = Rights{mode: 0o600}

// Creating is the mode to create a file with, before it gets its rights: no
// wider than what it ends with.
func (r Rights) Creating() fs.FileMode {
	if r.mode == 0 {
		return 0o644
	}
	return 0o600
}

// Create makes a file that does not exist yet, with these rights before
// anything is written.
func (r Rights) Create(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, r.Creating())
	if err != nil {
		return nil, err
	}
	if err := r.Give(file); err != nil {
		return nil, join(join(err, file.Close()), os.Remove(path))
	}
	return file, nil
}

// make is Create where only the name is wanted.
func (r Rights) make(path string) error {
	file, err := r.Create(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// Give gives an open file these rights, as far as the system lets this user:
// the owner only if this is root. Where the group cannot be that of the
// database, the group of the file gets no rights.
func (r Rights) Give(file *os.File) error {
	same, err := r.owner.give(file)
	if err != nil || r.mode == 0 {
		return err
	}
	mode := r.mode
	if !same {
		mode &^= 0o070
	}
	return ifAllowed(file.Chmod(mode))
}

// giveRights gives rights to a finished copy.
func giveRights(copied string, rights Rights) (err error) {
	file, err := os.OpenFile(copied, os.O_RDWR|noFollow, 0)
	if err != nil {
		return err
	}
	defer func() { err = join(err, file.Close()) }()
	return rights.Give(file)
}

// MakeDirs makes a folder and those above it that are missing, each for the
// owner of the database, and for those who may read or write it.
func (r Rights) MakeDirs(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := r.MakeDirs(parent); err != nil {
			return err
		}
	}
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrExist) {
		if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return join(r.GiveDir(dir), dir.Close())
}

// GiveDir is Give for a folder: whoever may read the database may also enter it.
func (r Rights) GiveDir(dir *os.File) error {
	same, err := r.owner.give(dir)
	if err != nil || r.mode == 0 {
		return err
	}
	info, err := dir.Stat()
	if err != nil {
		return err
	}
	mode := r.mode | r.mode&0o444>>2
	if !same {
		mode &^= 0o070
	}
	if info.Mode().Perm() == mode {
		return nil
	}
	return ifAllowed(dir.Chmod(mode | info.Mode()&(fs.ModeSetgid|fs.ModeSticky)))
}

// MakeDirIn makes one folder inside root; one that is there is fs.ErrExist.
func (r Rights) MakeDirIn(root *os.Root, name string) error {
	if err := root.Mkdir(name, 0o755); err != nil {
		return err
	}
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return join(r.GiveDir(dir), dir.Close())
}

// ifAllowed drops the refusal of a system, or of a file system, to set rights:
// what was created is no wider for it.
func ifAllowed(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
