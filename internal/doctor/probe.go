package doctor

import (
	"context"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"ocr/db"
)

// Each file of probes is one SELECT that returns the offending rows: none
// means healthy. Each file of facts is one that a check compares itself.
//
//go:embed probes/*.sql facts/*.sql
var statements embed.FS

func (s spec) probeFile() string { return strings.ReplaceAll(s.id, ".", "_") + ".sql" }

// offending declares the run of a check whose SQL file finds the fault.
func offending(id string, severity Status, next string) func(ctx context.Context, x *exam) result {
	return func(ctx context.Context, x *exam) result {
		rows, total, err := x.rows(ctx, "probes/"+spec{id: id}.probeFile())
		switch {
		case err != nil:
			return unknown(err, "ocr doctor --check data")
		case total == 0:
			return ok("none")
		}
		return result{status: severity, measured: fmt.Sprintf("%d", total), next: next, rows: rows, total: total}
	}
}

// rows runs one of the files; it keeps the first maxRows rows and counts all.
func (x *exam) rows(ctx context.Context, file string) (kept []Row, total int, err error) {
	err = x.each(ctx, file, func(row Row) {
		total++
		if len(kept) < maxRows {
			kept = append(kept, row)
		}
	})
	return kept, total, err
}

func (x *exam) all(ctx context.Context, file string) (rows []Row, err error) {
	err = x.each(ctx, file, func(row Row) { rows = append(rows, row) })
	return rows, err
}

func (x *exam) each(ctx context.Context, file string, fn func(Row)) error {
	statement, err := statements.ReadFile(file)
	if err != nil {
		return err
	}
	return db.Classify(x.path, eachRow(ctx, x.reader, string(statement), fn))
}

func eachRow(ctx context.Context, r *db.Reader, statement string, fn func(Row)) (err error) {
	rows, err := r.Query(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		row := make(Row, len(names))
		for i, name := range names {
			row[name] = plain(values[i])
		}
		fn(row)
	}
	return rows.Err()
}

// plain shows a blob as SQL writes it.
func plain(value any) any {
	if blob, ok := value.([]byte); ok {
		return "x'" + hex.EncodeToString(blob) + "'"
	}
	return value
}

// text and number read a column of a row; other types give the zero value.
func (r Row) text(name string) string {
	value, _ := r[name].(string)
	return value
}

func (r Row) number(name string) int64 {
	value, _ := r[name].(int64)
	return value
}
