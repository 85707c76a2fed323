package history

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"ocr/internal/project"
)

// cutBack keeps the newest lines of a log that has become too long. Readers
// see the old log or the new one, never half of one. The caller holds the
// lock; other programs append without it, so a log that grew meanwhile is read
// again.
func cutBack(cache *project.Cache, path string) error {
	for {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Size() <= maxLines {
			return nil // even of empty lines there are not too many
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Count(text, []byte{'\n'}) <= maxLines {
			return nil
		}
		done, err := replace(path, int64(len(text)), newest(text), func(file *os.File) error {
			return errors.Join(file.Chmod(info.Mode().Perm()), cache.Give(file))
		})
		if done || err != nil {
			return err
		}
	}
}

// newest returns the last lines of a text that ends with one.
func newest(text []byte) []byte {
	start := len(text)
	for range keepLines + 1 {
		start = bytes.LastIndexByte(text[:start], '\n')
	}
	return text[start+1:]
}

// replace puts text in the place of a log that still has the size it had. It
// reports false, and changes nothing, where it has not.
func replace(path string, size int64, text []byte, give func(*os.File) error) (done bool, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return false, err
	}
	defer func() {
		if !done {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	err = give(file)
	if err == nil {
		_, err = file.Write(text)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return false, err
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != size {
		return false, err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return false, err
	}
	return true, nil
}
