package db

import (
	"encoding/binary"
	"errors"
	"math"
)

var errDamaged = errors.New("damaged")

// treePage is one page of a tree.
type treePage struct {
	kind    byte
	content []byte
	// cells are the places of the cells, in order.
	cells []int
	// right is the last child of an interior page.
	right int
}

// tree reads page n as a page of a tree, and holds all places in it to the
// bounds of the page.
func (p *pageFile) tree(n int) (treePage, error) {
	t := treePage{content: p.page(n)}
	if t.content == nil {
		return t, errDamaged
	}
	start := 0
	if n == 1 {
		start = headerSize
	}
	head := t.content[start:]
	t.kind = head[0]
	list := start + 8
	switch t.kind {
	case tableLeaf, indexLeaf:
	case tableInterior, indexInterior:
		t.right = int(binary.BigEndian.Uint32(head[8:]))
		list = start + 12
	default:
		return t, errDamaged
	}
	count := int(binary.BigEndian.Uint16(head[3:]))
	content := int(binary.BigEndian.Uint16(head[5:]))
	if content == 0 {
		content = 65536
	}
	end := list + 2*count
	if end > p.usable || content < end || content > p.usable {
		return t, errDamaged
	}
	for i := range count {
		at := int(binary.BigEndian.Uint16(t.content[list+2*i:]))
		if at < content || at+4 > p.usable {
			return t, errDamaged
		}
		t.cells = append(t.cells, at)
	}
	return t, nil
}

// varint reads a number of 1 to 9 bytes; the length is 0 when it runs over
// the end.
func varint(b []byte) (value uint64, length int) {
	for i := 0; i < 9 && i < len(b); i++ {
		if i == 8 {
			return value<<8 | uint64(b[i]), 9
		}
		value = value<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}

// storedRow is one row as it is stored: its number, and the values of the
// columns that the table had when the row was written.
type storedRow struct {
	rowid  int64
	values []any
	// overflow are the further pages that hold it.
	overflow []int
}

// row reads the cell at of a leaf.
func (p *pageFile) row(t treePage, at int) (storedRow, error) {
	var row storedRow
	cell := t.content[at:p.usable]
	length, n := varint(cell)
	number, m := varint(cell[n:])
	if n == 0 || m == 0 || length > uint64(p.count)*uint64(p.size) {
		return row, errDamaged
	}
	row.rowid = int64(number)
	payload, pages, err := p.payload(cell[n+m:], int(length))
	if err != nil {
		return row, err
	}
	row.overflow = pages
	row.values, err = record(payload)
	return row, err
}

// payload collects length bytes that begin in rest and go on in other pages:
// https://sqlite.org/fileformat.html#cell_payload_overflow_pages.
func (p *pageFile) payload(rest []byte, length int) (payload []byte, pages []int, err error) {
	local := length
	if most := p.usable - 35; length > most {
		least := (p.usable-12)*32/255 - 23
		local = least + (length-least)%(p.usable-4)
		if local > most {
			local = least
		}
	}
	if local > len(rest) {
		return nil, nil, errDamaged
	}
	payload = append(payload, rest[:local]...)
	if local == length {
		return payload, nil, nil
	}
	if local+4 > len(rest) {
		return nil, nil, errDamaged
	}
	next := int(binary.BigEndian.Uint32(rest[local:]))
	for len(payload) < length {
		content := p.page(next)
		if content == nil || len(pages) > p.count {
			return nil, nil, errDamaged
		}
		pages = append(pages, next)
		payload = append(payload, content[4:min(p.usable, 4+length-len(payload))]...)
		next = int(binary.BigEndian.Uint32(content))
	}
	if next != 0 {
		return nil, nil, errDamaged
	}
	return payload, pages, nil
}

// record takes a row apart: https://sqlite.org/fileformat.html#record_format.
func record(payload []byte) ([]any, error) {
	size, n := varint(payload)
	if n == 0 || size > uint64(len(payload)) || size < uint64(n) {
		return nil, errDamaged
	}
	kinds, body := payload[n:size], payload[size:]
	values := []any{}
	for len(kinds) > 0 {
		kind, n := varint(kinds)
		if n == 0 {
			return nil, errDamaged
		}
		kinds = kinds[n:]
		value, length, err := recordValue(kind, body)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		body = body[length:]
	}
	if len(body) > 0 {
		return nil, errDamaged
	}
	return values, nil
}

func recordValue(kind uint64, body []byte) (value any, length int, err error) {
	sizes := [...]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}
	switch {
	case kind >= 12:
		if (kind-12)/2 > uint64(len(body)) {
			return nil, 0, errDamaged
		}
		length = int((kind - 12) / 2)
		if kind%2 == 1 {
			return string(body[:length]), length, nil
		}
		return append([]byte{}, body[:length]...), length, nil
	case kind >= uint64(len(sizes)):
		return nil, 0, errDamaged
	}
	length = sizes[kind]
	if length > len(body) {
		return nil, 0, errDamaged
	}
	switch kind {
	case 0:
		return nil, 0, nil
	case 7:
		return math.Float64frombits(binary.BigEndian.Uint64(body)), length, nil
	case 8, 9:
		return int64(kind - 8), 0, nil
	}
	number := int64(int8(body[0]))
	for _, b := range body[1:length] {
		number = number<<8 | int64(b)
	}
	return number, length, nil
}

// RowRange is a range of row numbers, both ends included. Nil is an open end:
// nobody knows how far it went.
type RowRange struct {
	From *int64 `json:"from"`
	To   *int64 `json:"to"`
}

// span is a RowRange whose open ends are the smallest and largest number.
type span struct{ from, to int64 }

var everything = span{math.MinInt64, math.MaxInt64}

func (s span) rowRange() RowRange {
	var r RowRange
	if s.from != math.MinInt64 {
		r.From = &s.from
	}
	if s.to != math.MaxInt64 {
		r.To = &s.to
	}
	return r
}

// walk is one walk through the tree of a table.
type walk struct {
	pages *pageFile
	// seen are the pages that belong to some tree.
	seen map[int]bool
	// row gets every row that can be read.
	row func(row storedRow) error
	// skipped are the row numbers below pages that cannot be read; lost counts
	// the rows that cannot be read in pages that can.
	skipped []span
	lost    int64
}

// down reads page n, whose rows have numbers within bounds.
func (w *walk) down(n int, bounds span) error {
	if w.seen[n] {
		w.skipped = append(w.skipped, bounds)
		return nil
	}
	t, err := w.pages.tree(n)
	switch {
	case err == nil && t.kind == tableLeaf:
		w.seen[n] = true
		return w.leaf(t, bounds)
	case err == nil && t.kind == tableInterior:
		if children, ok := w.children(t, bounds); ok {
			w.seen[n] = true
			for _, c := range children {
				if err := w.down(c.page, c.bounds); err != nil {
					return err
				}
			}
			return nil
		}
	}
	w.skipped = append(w.skipped, bounds)
	return nil
}

type treeChild struct {
	page   int
	bounds span
}

// children reads an interior page, whose row numbers must go up.
func (w *walk) children(t treePage, bounds span) ([]treeChild, bool) {
	var list []treeChild
	from := bounds.from
	for _, at := range t.cells {
		key, n := varint(t.content[at+4 : w.pages.usable])
		to := int64(key)
		if n == 0 || to < from || to > bounds.to {
			return nil, false
		}
		list = append(list, treeChild{int(binary.BigEndian.Uint32(t.content[at:])), span{from, to}})
		if to == math.MaxInt64 {
			return nil, false
		}
		from = to + 1
	}
	return append(list, treeChild{t.right, span{from, bounds.to}}), true
}

func (w *walk) leaf(t treePage, bounds span) error {
	for _, at := range t.cells {
		row, err := w.pages.row(t, at)
		if err != nil || row.rowid < bounds.from || row.rowid > bounds.to {
			w.lost++
			continue
		}
		for _, n := range row.overflow {
			w.seen[n] = true
		}
		if err := w.row(row); err != nil {
			return err
		}
	}
	return nil
}

// rows reads a loose leaf: all of its rows, or none.
func (p *pageFile) rows(n int) ([]storedRow, error) {
	t, err := p.tree(n)
	if err != nil || t.kind != tableLeaf || len(t.cells) == 0 {
		return nil, errDamaged
	}
	var list []storedRow
	for _, at := range t.cells {
		row, err := p.row(t, at)
		if err != nil || len(list) > 0 && row.rowid <= list[len(list)-1].rowid {
			return nil, errDamaged
		}
		list = append(list, row)
	}
	return list, nil
}
