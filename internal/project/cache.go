package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ocr/db"
)

// Cache is a folder below the folder of data, open for writing. Nothing in it is
// reached over a symbolic link: a log of ours is never written elsewhere.
type Cache struct {
	root   *os.Root
	dir    string
	rights db.Rights
}

// OpenCache opens the folder dir, which stands in a folder of data, and makes
// both where they are missing, with the rights of the database beside it.
func OpenCache(dir string) (*Cache, error) {
	data := filepath.Dir(dir)
	c := &Cache{dir: dir, rights: db.RightsOf(filepath.Join(data, "ocr.db"))}
	if err := c.rights.MakeDirs(data); err != nil {
		return nil, err
	}
	outer, err := os.OpenRoot(data)
	if err != nil {
		return nil, err
	}
	defer func() { _ = outer.Close() }() // only read from
	if err := c.rights.MakeDirIn(outer, filepath.Base(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := outer.Lstat(filepath.Base(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, linkError(dir)
	}
	c.root, err = outer.OpenRoot(filepath.Base(dir))
	return c, err
}

func linkError(path string) error {
	return fmt.Errorf("%s is a symbolic link and is not a regular file: it is not followed for writing", path)
}

// Open opens the file of that name, and makes it if there is none.
func (c *Cache) Open(name string, flag int) (*os.File, error) {
	file, err := c.root.OpenFile(name, flag|os.O_CREATE|os.O_EXCL, c.rights.Creating())
	switch {
	case err == nil:
		if err := c.rights.Give(file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	info, err := c.root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, linkError(filepath.Join(c.dir, name))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", filepath.Join(c.dir, name))
	}
	return c.root.OpenFile(name, flag, 0)
}

// Give gives an open file the rights of the database.
func (c *Cache) Give(file *os.File) error { return c.rights.Give(file) }

// Close ends the access.
func (c *Cache) Close() error { return c.root.Close() }
