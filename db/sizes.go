package db

import (
	"context"
	"fmt"
)

// Sizes says what the bytes of a database are spent on.
type Sizes struct {
	// PageSize is in bytes.
	PageSize int64 `json:"page_size"`
	// Pages counts all pages, those that stand only in the log included.
	Pages int64 `json:"pages"`
	// FreePages hold nothing; new rows use them, and Vacuum returns them.
	FreePages int64 `json:"free_pages"`
	// Tables are in order of size, largest first.
	Tables []TableSize `json:"tables"`
}

// LiveBytes is the room that content takes.
func (s Sizes) LiveBytes() int64 { return (s.Pages - s.FreePages) * s.PageSize }

// FreeBytes is the room that Vacuum would return.
func (s Sizes) FreeBytes() int64 { return s.FreePages * s.PageSize }

// TableSize is one table with its indexes.
type TableSize struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
	// Bytes and IndexBytes count whole pages.
	Bytes      int64 `json:"bytes"`
	IndexBytes int64 `json:"index_bytes"`
}

// Sizes counts pages, and with tables also the rows and bytes of every table,
// for which it reads the whole file.
func (r *Reader) Sizes(ctx context.Context, tables bool) (Sizes, error) {
	var s Sizes
	err := r.conn.QueryRowContext(ctx, `
SELECT
    (SELECT page_size FROM pragma_page_size),
    (SELECT page_count FROM pragma_page_count),
    (SELECT freelist_count FROM pragma_freelist_count)`).Scan(&s.PageSize, &s.Pages, &s.FreePages)
	if err != nil || !tables {
		return s, err
	}
	s.Tables, err = r.tableSizes(ctx)
	if err != nil {
		return s, err
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		err := r.conn.QueryRowContext(ctx, "SELECT count(*) FROM "+quoteName(t.Name)).Scan(&t.Rows)
		if err != nil {
			return s, fmt.Errorf("counting %s: %w", t.Name, err)
		}
	}
	return s, nil
}

func (r *Reader) tableSizes(ctx context.Context) ([]TableSize, error) {
	fields := func(t *TableSize) []any { return []any{&t.Name, &t.Bytes, &t.IndexBytes} }
	return collect(ctx, r.conn, fields, `
SELECT
    s.tbl_name,
    IFNULL(SUM(d.pgsize) FILTER (WHERE s.type = 'table'), 0),
    IFNULL(SUM(d.pgsize) FILTER (WHERE s.type = 'index'), 0)
FROM sqlite_schema AS s
INNER JOIN dbstat AS d ON d.name = s.name
WHERE d.aggregate = 1
GROUP BY s.tbl_name
ORDER BY SUM(d.pgsize) DESC, s.tbl_name`)
}
