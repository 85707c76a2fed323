package doctor

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// head is what a database file looks like from outside.
type head struct {
	info fs.FileInfo
	err  error
	// sqlite: it starts as every SQLite file does.
	sqlite bool
	// wal: it is written with a write-ahead log.
	wal bool
	// pages and pageSize are what the header says; zero where it does not.
	pages, pageSize int64
}

// readHead looks at a file without the engine. The layout of the first 100
// bytes: https://sqlite.org/fileformat2.html#the_database_header.
func readHead(path string) head {
	var h head
	if h.info, h.err = os.Stat(path); h.err != nil || !h.info.Mode().IsRegular() {
		return h
	}
	f, err := os.Open(path)
	if err != nil {
		h.err = err
		return h
	}
	defer f.Close()
	var text [100]byte
	if _, err := io.ReadFull(f, text[:]); err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			h.err = err
		}
		return h
	}
	h.sqlite = strings.HasPrefix(string(text[:]), "SQLite format 3\x00")
	if !h.sqlite {
		return h
	}
	h.wal = text[18] == 2 && text[19] == 2
	h.pageSize = int64(binary.BigEndian.Uint16(text[16:]))
	if h.pageSize == 1 {
		h.pageSize = 65536
	}
	// The number of pages holds only where both change counters agree.
	if binary.BigEndian.Uint32(text[24:]) == binary.BigEndian.Uint32(text[92:]) {
		h.pages = int64(binary.BigEndian.Uint32(text[28:]))
	}
	return h
}

// short is how many bytes the file lacks by its own header.
func (h head) short() int64 {
	if h.info == nil {
		return 0
	}
	return max(0, h.pages*h.pageSize-h.info.Size())
}
