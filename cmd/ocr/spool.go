package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// spoolMemory is how many bytes of a result are kept in memory; a longer one
// goes to a file.
const spoolMemory = 1 << 20

// spool holds a result until it is known to be whole and one consistent view:
// stdout gets all of it or, where something fails on the way, nothing.
type spool struct {
	*bufio.Writer
	kept kept
	// render, if set, writes to stdout what is made of the content.
	render func(from io.Reader, to io.Writer) error
}

// restart forgets what was written.
func (s *spool) restart() error {
	s.Writer = bufio.NewWriter(&s.kept)
	return s.kept.restart()
}

// spool prints what fill has written, if it succeeds.
func (a *app) spool(fill func(out *spool) error) (err error) {
	out := &spool{}
	defer func() { err = errors.Join(err, out.kept.remove()) }()
	if err := out.restart(); err != nil {
		return err
	}
	if err := fill(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	content, err := out.kept.reader()
	if err != nil {
		return err
	}
	if out.render != nil {
		return out.render(content, resultWriter{a.stdout})
	}
	_, err = io.Copy(resultWriter{a.stdout}, content)
	return err
}

// kept is the content of a spool.
type kept struct {
	memory bytes.Buffer
	file   *os.File // nil while memory holds all
}

func (k *kept) Write(p []byte) (int, error) {
	if k.file == nil && k.memory.Len()+len(p) <= spoolMemory {
		return k.memory.Write(p)
	}
	if k.file == nil {
		file, err := os.CreateTemp("", "ocr-result-")
		if err != nil {
			return 0, &spoolError{err}
		}
		k.file = file
		if _, err := k.memory.WriteTo(file); err != nil {
			return 0, &spoolError{err}
		}
	}
	n, err := k.file.Write(p)
	if err != nil {
		return n, &spoolError{err}
	}
	return n, nil
}

func (k *kept) restart() error {
	k.memory.Reset()
	return k.remove()
}

func (k *kept) remove() error {
	if k.file == nil {
		return nil
	}
	err := errors.Join(k.file.Close(), os.Remove(k.file.Name()))
	k.file = nil
	return err
}

func (k *kept) reader() (io.Reader, error) {
	if k.file == nil {
		return &k.memory, nil
	}
	if _, err := k.file.Seek(0, io.SeekStart); err != nil {
		return nil, &spoolError{err}
	}
	return k.file, nil
}

// spoolError says that there is no place for a long result.
type spoolError struct{ err error }

func (e *spoolError) Error() string {
	return fmt.Sprintf("a long result cannot be kept in %s until it is complete: %v", os.TempDir(), e.err)
}

func (e *spoolError) Unwrap() error { return e.err }
