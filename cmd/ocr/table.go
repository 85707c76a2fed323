package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rowWriter writes the result of a statement that nobody knew before, row by
// row. begin forgets what an earlier run has written.
type rowWriter interface {
	begin(columns []string) error
	row(values []any) error
	end() error
}

// writeRows hands at most limit rows to w, all of them where limit is 0, and
// says whether there were more. Of the columns of one name, the second is
// called name_2, and so on.
func writeRows(rows *sql.Rows, limit int64, w rowWriter) (cut bool, err error) {
	names, err := rows.Columns()
	if err != nil {
		return false, err
	}
	if err := w.begin(distinct(names)); err != nil {
		return false, err
	}
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for n := int64(0); rows.Next(); n++ {
		if limit > 0 && n == limit {
			return true, w.end()
		}
		if err := rows.Scan(targets...); err != nil {
			return false, err
		}
		if err := w.row(values); err != nil {
			return false, err
		}
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	return false, w.end()
}

func distinct(names []string) []string {
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	seen := map[string]bool{}
	result := make([]string, len(names))
	for i, name := range names {
		free := name
		for n := 2; seen[free] || free != name && taken[free]; n++ {
			free = fmt.Sprintf("%s_%d", name, n)
		}
		seen[free] = true
		result[i] = free
	}
	return result
}

// jsonValue is a value as JSON can hold it. An infinite number is a text.
func jsonValue(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsInf(v, 0) {
			return plainValue(v)
		}
		return json.RawMessage(plainValue(v))
	case []byte:
		return plainValue(v)
	}
	return value
}

// plainValue is a value as text.
func plainValue(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []byte:
		return "x'" + hex.EncodeToString(v) + "'"
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !math.IsInf(v, 0) && !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	}
	return fmt.Sprint(value)
}

// object is one row as a JSON object whose keys stand as the columns do.
func object(columns []string, values []any) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, value := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(columns[i])
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(jsonValue(value))
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// jsonRows writes an array of objects. What cannot be written shows at the
// flush of out.
type jsonRows struct {
	out     *spool
	columns []string
	some    bool
}

func (w *jsonRows) begin(columns []string) error {
	w.columns, w.some = columns, false
	err := w.out.restart()
	w.out.WriteByte('[')
	return err
}

func (w *jsonRows) row(values []any) error {
	row, err := object(w.columns, values)
	if err != nil {
		return err
	}
	line, err := encode(row)
	if err != nil {
		return err
	}
	if w.some {
		w.out.WriteByte(',')
	}
	w.some = true
	_, err = w.out.Write(line[:len(line)-1])
	return err
}

func (w *jsonRows) end() error {
	_, err := w.out.WriteString("]\n")
	return err
}

// csvRows writes comma separated values below a line of names.
type csvRows struct{ out *spool }

func (w *csvRows) begin(columns []string) error {
	if err := w.out.restart(); err != nil {
		return err
	}
	return w.record(columns)
}

func (w *csvRows) row(values []any) error {
	record := make([]string, len(values))
	for i, value := range values {
		record[i] = plainValue(value)
	}
	return w.record(record)
}

func (w *csvRows) record(fields []string) error {
	var line strings.Builder
	out := csv.NewWriter(&line)
	if err := out.Write(fields); err != nil {
		return err
	}
	out.Flush()
	_, err := w.out.WriteString(printable(line.String()))
	return err
}

func (w *csvRows) end() error { return nil }

// textRows aligns the columns under their names. How wide they are is known
// after the last row, so out keeps the cells, each after its length.
type textRows struct {
	out    *spool
	widths []int
}

// widestCell bounds the blanks that one long cell adds to every other row.
const widestCell = 256

func (w *textRows) begin(columns []string) error {
	w.widths = make([]int, len(columns))
	w.out.render = w.align
	if err := w.out.restart(); err != nil {
		return err
	}
	rules := make([]string, len(columns))
	for i, name := range columns {
		rules[i] = strings.Repeat("-", max(1, utf8.RuneCountInString(oneLine(name))))
	}
	if err := w.cells(columns); err != nil {
		return err
	}
	return w.cells(rules)
}

func (w *textRows) row(values []any) error {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = plainValue(value)
	}
	return w.cells(texts)
}

func (w *textRows) cells(texts []string) error {
	for i, text := range texts {
		text = oneLine(text)
		w.widths[i] = max(w.widths[i], min(utf8.RuneCountInString(text), widestCell))
		_, err := w.out.Write(binary.AppendUvarint(nil, uint64(len(text))))
		if err != nil {
			return err
		}
		if _, err := w.out.WriteString(text); err != nil {
			return err
		}
	}
	return nil
}

func (w *textRows) end() error { return nil }

// align writes the kept cells, two blanks between the columns.
func (w *textRows) align(from io.Reader, to io.Writer) error {
	in, out := bufio.NewReader(from), bufio.NewWriter(to)
	for i := 0; len(w.widths) > 0; i = (i + 1) % len(w.widths) {
		length, err := binary.ReadUvarint(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		out.Write(text)
		end := "\n"
		if i < len(w.widths)-1 {
			end = strings.Repeat(" ", max(0, w.widths[i]-utf8.RuneCount(text))+2)
		}
		out.WriteString(end)
	}
	return out.Flush()
}
