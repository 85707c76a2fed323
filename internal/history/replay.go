package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"ocr/internal/project"
)

// maxLineBytes bounds one line; a longer one counts as bad.
const maxLineBytes = 1 << 20

// Path is the log below the folder of data of a project.
func Path(data string) string {
	return filepath.Join(data, ".cache", "command-history.jsonl")
}

// Replayed is what the log can bring back.
type Replayed struct {
	// Entries holds the last word on each process that ended, in the order in
	// which the processes first appear.
	Entries []Entry
	// Bad counts the lines that are none.
	Bad int
	// Started counts the processes of which only the start is known. They do
	// not come back: nobody can say how they ended.
	Started int
}

// Replay reads the log at path. Of several lines on one process the last one
// counts, but a start never after an end. Without a log there is nothing.
func Replay(path string) (Replayed, error) {
	var result Replayed
	file, err := project.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return result, nil
	}
	if err != nil {
		return result, err
	}
	defer file.Close()
	var order []string
	latest := map[string]Entry{}
	lines := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return result, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			entry, ok := parse(line)
			known, seen := latest[entry.UID]
			switch {
			case !ok:
				result.Bad++
			case !seen:
				order = append(order, entry.UID)
				latest[entry.UID] = entry
			case entry.Event != Start || known.Event == Start:
				latest[entry.UID] = entry
			}
		}
		if err != nil {
			break
		}
	}
	for _, uid := range order {
		if entry := latest[uid]; entry.Event != Start {
			result.Entries = append(result.Entries, entry)
		} else {
			result.Started++
		}
	}
	return result, nil
}

// readLine returns the next line. Of one that is too long it returns the first
// part, which is no entry, and passes the rest over.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLineBytes {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(line) > maxLineBytes {
				line = line[:1]
			}
			return line, err
		}
	}
}
