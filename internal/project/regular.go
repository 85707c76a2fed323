package project

import (
	"fmt"
	"io"
	"os"
)

// OpenRegular opens a regular file, or a link to one, for reading. Anything
// else is an error that names the path: a pipe would keep the program waiting,
// and a device may never end.
func OpenRegular(path string) (*os.File, error) {
	if err := CheckRegular(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// CheckRegular refuses what is not a regular file, nor a link to one. A path
// at which there is nothing is fs.ErrNotExist.
func CheckRegular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
}

// ReadBounded returns the content of a regular file of at most limit bytes.
// Anything else is an error.
func ReadBounded(path string, limit int64) ([]byte, error) {
	file, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return text, nil
}
