package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read gives the content of the file rel, a slash path inside dir. The error is
// fs.ErrNotExist if there is no regular file of that name. It reads no more than
// one byte over MaxPayload, which the parsers refuse as too large.
func Read(dir, rel string) (data []byte, err error) {
	name := filepath.Join(dir, filepath.FromSlash(rel))
	there, err := Exists(dir, rel)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read an artifact: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if data, err = io.ReadAll(io.LimitReader(f, MaxPayload+1)); err != nil {
		return nil, fmt.Errorf("read the artifact %s: %w", name, err)
	}
	return data, nil
}
