package main

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// table is the result of a statement that nobody knew before.
type table struct {
	columns []string
	rows    [][]any
}

// fill reads all rows. Of the columns of one name, the second is called
// name_2, and so on.
func (t *table) fill(rows *sql.Rows) error {
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	t.columns = distinct(names)
	for rows.Next() {
		row := make([]any, len(names))
		targets := make([]any, len(names))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		t.rows = append(t.rows, row)
	}
	return rows.Err()
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

// MarshalJSON makes an array of objects whose keys stand as the columns do.
func (t table) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, row := range t.rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for j, value := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			key, err := json.Marshal(t.columns[j])
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
	}
	b.WriteByte(']')
	return b.Bytes(), nil
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

func (t table) writeCSV(w io.Writer) {
	// What cannot be written shows when the output itself is.
	out := csv.NewWriter(w)
	_ = out.Write(t.columns)
	for _, row := range t.rows {
		record := make([]string, len(row))
		for i, value := range row {
			record[i] = plainValue(value)
		}
		_ = out.Write(record)
	}
	out.Flush()
}

// writeText aligns the columns under their names.
func (t table) writeText(w io.Writer) {
	cells := make([][]string, 0, len(t.rows)+2)
	rules := make([]string, len(t.columns))
	for i, name := range t.columns {
		rules[i] = strings.Repeat("-", max(1, utf8.RuneCountInString(oneLine(name))))
	}
	cells = append(cells, t.columns, rules)
	for _, row := range t.rows {
		texts := make([]string, len(row))
		for i, value := range row {
			texts[i] = plainValue(value)
		}
		cells = append(cells, texts)
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range cells {
		for i, text := range row {
			if i > 0 {
				fmt.Fprint(aligned, "\t")
			}
			fmt.Fprint(aligned, oneLine(text))
		}
		fmt.Fprintln(aligned)
	}
	_ = aligned.Flush()
}
