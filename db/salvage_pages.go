package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// The kinds of pages in a tree: https://sqlite.org/fileformat.html#b_tree_pages.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// headerSize is the part of the first page before its tree begins.
const headerSize = 100

var magic = []byte("SQLite format 3\x00")

// pageFile is a file as pages, with the committed part of its log on top. It
// knows nothing of the engine, which refuses to look at damaged pages.
type pageFile struct {
	main, log *os.File
	// size is that of one page; the first usable bytes of it hold content.
	size, usable int
	// count is the number of the last page.
	count int
	// inLog is where the newest content of a page stands in the log.
	inLog map[int]int64
	// header says that the header could be read.
	header bool
}

// openPages opens the file at path and its log.
func openPages(path string) (p *pageFile, err error) {
	p = &pageFile{inLog: map[int]int64{}}
	p.main, err = os.Open(path)
	if err != nil {
		return nil, err
	}
	p.log, err = os.Open(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, join(err, p.close())
	}
	if err := p.measure(); err != nil {
		return nil, join(err, p.close())
	}
	return p, nil
}

func (p *pageFile) close() error {
	err := p.main.Close()
	if p.log != nil {
		err = join(err, p.log.Close())
	}
	return err
}

// measure finds out the size of a page: from the header, from the log, or by
// the look of the pages.
func (p *pageFile) measure() error {
	info, err := p.main.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, headerSize)
	n, err := p.main.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	size := pageSize(head[:n])
	if p.log != nil {
		logged, last, err := p.readLog()
		if err != nil {
			return err
		}
		if size == 0 {
			size = logged
		}
		if logged == size {
			p.count = last
		} else {
			p.inLog = map[int]int64{}
		}
	}
	if size == 0 {
		size = p.guess(info.Size())
	}
	p.size, p.usable = size, size
	p.count = max(p.count, int(info.Size()/int64(size)))
	if first := p.page(1); pageSize(first) == size {
		p.header = true
		p.usable = size - int(first[20])
	}
	return nil
}

// pageSize reads the size from a header, and returns 0 when it is none.
// https://sqlite.org/fileformat.html#the_database_header
func pageSize(head []byte) int {
	if len(head) < headerSize || !bytes.HasPrefix(head, magic) || !bytes.Equal(head[21:24], []byte{64, 32, 32}) {
		return 0
	}
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 65536
	}
	if size < 512 || size&(size-1) != 0 || size-int(head[20]) < 480 {
		return 0
	}
	return size
}

// guess returns the size with which the most pages look like those of trees.
// Their content stands at the end of a page, so that hardly any passes with a
// smaller size; with a larger one, only every second, fourth and so on does.
func (p *pageFile) guess(fileSize int64) int {
	const looked = 4 << 20 // bytes
	best, most := 4096, 0
	for size := 512; size <= 65536; size *= 2 {
		try := &pageFile{main: p.main, size: size, usable: size, count: int(fileSize / int64(size))}
		seen := 0
		for n := 1; n <= min(try.count, looked/size); n++ {
			if _, err := try.tree(n); err == nil {
				seen++
			}
		}
		if seen > most {
			best, most = size, seen
		}
	}
	return best
}

// page returns the newest content of page n, nil when there is none.
func (p *pageFile) page(n int) []byte {
	if n < 1 || n > p.count {
		return nil
	}
	content := make([]byte, p.size)
	var err error
	if at, ok := p.inLog[n]; ok {
		_, err = p.log.ReadAt(content, at)
	} else {
		_, err = p.main.ReadAt(content, int64(n-1)*int64(p.size))
	}
	if err != nil {
		return nil
	}
	return content
}

const (
	logHeader   = 32
	frameHeader = 24
)

// readLog notes which pages stand in the log, up to the last commit whose
// checksums are right: https://sqlite.org/fileformat.html#the_write_ahead_log.
// It returns the size of a page, and the number of pages after that commit.
func (p *pageFile) readLog() (size, last int, err error) {
	head := make([]byte, logHeader)
	if _, err := p.log.ReadAt(head, 0); err != nil {
		if errors.Is(err, io.EOF) {
			return 0, 0, nil
		}
		return 0, 0, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch binary.BigEndian.Uint32(head) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return 0, 0, nil
	}
	size = int(binary.BigEndian.Uint32(head[8:]))
	a, b := checksum(order, 0, 0, head[:24])
	if size < 512 || size > 65536 || size&(size-1) != 0 ||
		a != binary.BigEndian.Uint32(head[24:]) || b != binary.BigEndian.Uint32(head[28:]) {
		return 0, 0, nil
	}
	waiting := map[int]int64{}
	frame := make([]byte, frameHeader+size)
	for at := int64(logHeader); ; at += int64(len(frame)) {
		if _, err := p.log.ReadAt(frame, at); err != nil {
			if errors.Is(err, io.EOF) {
				return size, last, nil
			}
			return 0, 0, err
		}
		a, b = checksum(order, a, b, frame[:8])
		a, b = checksum(order, a, b, frame[frameHeader:])
		if !bytes.Equal(frame[8:16], head[16:24]) ||
			a != binary.BigEndian.Uint32(frame[16:]) || b != binary.BigEndian.Uint32(frame[20:]) {
			return size, last, nil
		}
		waiting[int(binary.BigEndian.Uint32(frame))] = at + frameHeader
		if after := int(binary.BigEndian.Uint32(frame[4:])); after > 0 {
			for n, where := range waiting {
				p.inLog[n] = where
			}
			clear(waiting)
			last = after
		}
	}
}

func checksum(order binary.ByteOrder, a, b uint32, content []byte) (uint32, uint32) {
	for i := 0; i+8 <= len(content); i += 8 {
		a += order.Uint32(content[i:]) + b
		b += order.Uint32(content[i+4:]) + a
	}
	return a, b
}

// freePages are the pages that hold nothing any more, as far as their list
// can be followed.
func (p *pageFile) freePages() map[int]bool {
	free := map[int]bool{}
	first := p.page(1)
	if !p.header || first == nil {
		return free
	}
	for n := int(binary.BigEndian.Uint32(first[32:])); n > 0 && !free[n]; {
		trunk := p.page(n)
		if trunk == nil {
			break
		}
		free[n] = true
		leaves := int(binary.BigEndian.Uint32(trunk[4:]))
		for i := 0; i < leaves && 12+4*i <= p.usable; i++ {
			free[int(binary.BigEndian.Uint32(trunk[8+4*i:]))] = true
		}
		n = int(binary.BigEndian.Uint32(trunk))
	}
	return free
}
