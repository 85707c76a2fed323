package db

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// quickCheck has the engine look at every page of the file and at its list of
// free pages; it returns at most limit findings, none when all is well.
func quickCheck(ctx context.Context, conn *sql.Conn, limit int) ([]string, error) {
	return checkPages(ctx, conn, "quick_check", limit)
}

// integrityCheck does so, compares each entry of an index with its row, and
// looks whether a free page is in use by a table or an index.
func integrityCheck(ctx context.Context, conn *sql.Conn, limit int) ([]string, error) {
	found, err := checkPages(ctx, conn, "integrity_check", limit)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return freePagesInUse(ctx, conn, limit)
}

// checkPages makes the engine's check twice: of everything, and of the schema
// table alone. Where a view happens to be the first object that the engine has
// in memory, it takes the first for a partial check and leaves the list of
// free pages out; the check of the schema table always includes it
// (https://sqlite.org/pragma.html#pragma_integrity_check).
func checkPages(ctx context.Context, conn *sql.Conn, check string, limit int) ([]string, error) {
	found, err := findings(ctx, conn, fmt.Sprintf("%s(%d)", check, limit))
	if err != nil {
		return found, err
	}
	free, err := findings(ctx, conn, check+"(sqlite_schema)")
	for _, text := range free {
		if !slices.Contains(found, text) && len(found) < limit {
			found = append(found, text)
		}
	}
	return found, err
}

// findings runs one of the engine's own checks.
func findings(ctx context.Context, conn *sql.Conn, check string) ([]string, error) {
	lines, err := names(ctx, conn, "PRAGMA "+check)
	if len(lines) == 1 && lines[0] == "ok" {
		return nil, err
	}
	return lines, err
}

// freePagesInUse names the pages that the list of free pages holds although a
// table or an index uses them: the next writes would overwrite rows. The list
// itself was found to be well formed before.
func freePagesInUse(ctx context.Context, conn *sql.Conn, limit int) ([]string, error) {
	free, err := freePages(ctx, conn)
	if err != nil || len(free) == 0 {
		return nil, err
	}
	list, err := json.Marshal(free)
	if err != nil {
		return nil, err
	}
	return names(ctx, conn, `
SELECT printf('free page %d is in use by %s', s.pageno, s.name)
FROM dbstat AS s
WHERE s.pageno IN (SELECT value FROM json_each(?))
LIMIT ?`, string(list), limit)
}

// freePages reads the numbers in the list of free pages. The layout:
// https://sqlite.org/fileformat2.html#the_freelist. It reads at most as many
// trunk pages as the list is long.
func freePages(ctx context.Context, conn *sql.Conn) (list []uint32, err error) {
	var count int
	if err := conn.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&count); err != nil || count == 0 {
		return nil, err
	}
	header, err := pageBytes(ctx, conn, 1)
	if err != nil || len(header) < 100 {
		return nil, err
	}
	for trunk := binary.BigEndian.Uint32(header[32:]); trunk != 0 && len(list) < count; {
		page, err := pageBytes(ctx, conn, trunk)
		if err != nil || len(page) < 8 {
			return list, err
		}
		list = append(list, trunk)
		leaves := min(int(binary.BigEndian.Uint32(page[4:])), len(page)/4-2)
		for i := range leaves {
			list = append(list, binary.BigEndian.Uint32(page[8+4*i:]))
		}
		trunk = binary.BigEndian.Uint32(page)
	}
	return list, nil
}

func pageBytes(ctx context.Context, conn *sql.Conn, number uint32) (page []byte, err error) {
	err = conn.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", number).Scan(&page)
	return page, err
}

// OnlyFreeList reports whether findings of a check are all about the list of
// free pages: every row can be read, and rewriting the file makes it sound.
func OnlyFreeList(found []string) bool {
	for _, text := range found {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			switch {
			case line == "", strings.HasPrefix(line, "*** in database"):
			case strings.HasPrefix(line, "Freelist: "), strings.HasPrefix(line, "free page "):
			case strings.HasPrefix(line, "Page ") && strings.HasSuffix(line, ": never used"):
			default:
				return false
			}
		}
	}
	return len(found) > 0
}
