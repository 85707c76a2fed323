package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ocr/db"
	"ocr/internal/artifact"
	"ocr/internal/shell"
)

// largeWAL is twice the size at which SQLite by itself moves a log into the
// file: https://sqlite.org/wal.html#automatic_checkpoint.
const largeWAL = 8 << 20

func housekeepingWAL(_ context.Context, x *exam) result {
	info, err := os.Stat(x.path + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok("no log: nobody has the database open")
	case err != nil:
		return unknown(err, "ls -la "+shell.Quote(x.project.Data()))
	case info.Size() <= largeWAL:
		return ok("%s", db.FormatBytes(info.Size()))
	}
	held := "who has it open is not known"
	if list := db.Holders(x.path); len(list) > 0 {
		var names []string
		for _, h := range list {
			names = append(names, fmt.Sprintf("process %d (%s, %s)", h.PID, h.Name, h.Doing))
		}
		held = "open in " + strings.Join(names, ", ")
	}
	return warn("ocr db checkpoint", "%s; %s", db.FormatBytes(info.Size()), held)
}

// housekeepingSnapshots opens each copy. With Deep every page is looked at.
func housekeepingSnapshots(ctx context.Context, x *exam) result {
	look := x.lookBeside()
	list, err := db.Snapshots(x.path)
	if err != nil {
		return unknown(err, look)
	}
	var bad []Row
	newest := ""
	for _, s := range list {
		path := filepath.Join(filepath.Dir(x.path), s.Name)
		if fault := x.snapshotFault(ctx, path, readHead(path)); fault != "" {
			bad = append(bad, Row{"snapshot": s.Name, "fault": fault})
		} else if newest == "" {
			newest = fmt.Sprintf("%s of %s", s.Name, s.At.UTC().Format(time.RFC3339))
		}
	}
	said := "none"
	if newest != "" {
		said = fmt.Sprintf("%d good, the newest is %s", len(list)-len(bad), newest)
	}
	if len(bad) > 0 {
		return warn(look, "%d of %d cannot be used; %s", len(bad), len(list), said).with(bad)
	}
	return ok("%s", said)
}

func (x *exam) snapshotFault(ctx context.Context, path string, h head) string {
	switch {
	case h.err != nil:
		return h.err.Error()
	case h.info.Size() == 0:
		return "empty"
	case !h.sqlite:
		return "not a SQLite database"
	case h.short() > 0:
		return fmt.Sprintf("lacks %d bytes", h.short())
	}
	look := db.CheckCopy
	if !x.Deep {
		look = openSnapshot
	}
	if err := look(ctx, path); err != nil {
		return err.Error()
	}
	return ""
}

// openSnapshot tries whether the engine finds its way into the file.
func openSnapshot(ctx context.Context, path string) error {
	statement, err := statements.ReadFile("facts/sessions.sql")
	if err != nil {
		return err
	}
	return db.Inspect(ctx, path, func(ctx context.Context, r *db.Reader) error {
		return eachRow(ctx, r, string(statement), func(Row) {})
	})
}

// leftAfter is how old a temporary file must be to count as left behind.
const leftAfter = artifact.LeftAfter

// maxEntries bounds how many files and folders of sessions are looked at,
// unless the look is Deep.
const maxEntries = 20000

func housekeepingTemps(ctx context.Context, x *exam) result {
	look := x.lookBeside()
	var left []Row
	for _, dir := range []string{x.project.Data(), filepath.Join(x.project.Data(), ".cache")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unknown(err, look)
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil || !temporary(entry.Name()) || time.Since(info.ModTime()) < leftAfter {
				continue
			}
			left = append(left, Row{"file": filepath.Join(dir, entry.Name()), "bytes": info.Size()})
		}
	}
	inData := len(left)
	beside, scope, err := x.artifactTemps(ctx)
	if err != nil {
		return unknown(err, "ls -la "+shell.Quote(x.project.Sessions()))
	}
	left = append(left, beside...)
	switch {
	case len(left) == 0:
		return ok("none%s", scope)
	case inData == 0:
		look = "ls -la " + shell.Quote(filepath.Dir(left[0].text("file")))
	}
	return warn(look, "%d%s", len(left), scope).with(left)
}

// artifactTemps finds what was left beside the files of sessions: under .new
// what never counted, under .old a file as it was before. scope is not empty
// where not everything was looked at.
func (x *exam) artifactTemps(ctx context.Context) (left []Row, scope string, err error) {
	seen := 0
	err = filepath.WalkDir(x.project.Sessions(), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case seen == maxEntries && !x.Deep:
			scope = fmt.Sprintf(", among the first %d files and folders of sessions", maxEntries)
			return fs.SkipAll
		}
		seen++
		if entry.IsDir() || !artifact.IsLeftover(entry.Name()) {
			return nil
		}
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > leftAfter {
			left = append(left, Row{"file": path, "bytes": info.Size()})
		}
		return nil
	})
	return left, scope, err
}

// temporary knows the names that programs give to files in the making.
func temporary(path string) bool {
	name := filepath.Base(path)
	if strings.HasPrefix(name, "ocr-probe-") {
		return true
	}
	for _, part := range []string{".partial", ".tmp"} {
		if strings.HasSuffix(name, part) || strings.Contains(name, part+"-") || strings.Contains(name, part+".") {
			return true
		}
	}
	return false
}

// The database counts as grown when it is this large, or when this much and a
// quarter of it lies idle.
const (
	largeFile = 512 << 20
	muchIdle  = 16 << 20
)

func housekeepingGrowth(ctx context.Context, x *exam) result {
	f := x.facts
	total, idle := f.pageCount*f.pageSize, f.freeCount*f.pageSize
	said := fmt.Sprintf("%s, of which %s idle", db.FormatBytes(total), db.FormatBytes(idle))
	if total < largeFile && (idle < muchIdle || idle < total/4) {
		return ok("%s", said)
	}
	tables, err := x.biggestTables(ctx)
	if err != nil {
		return unknown(err, "ocr db stats")
	}
	rows, err := x.all(ctx, "facts/biggest_sessions.sql")
	if err != nil {
		return unknown(err, "ocr db stats")
	}
	next := "ocr db stats"
	if idle >= muchIdle && idle >= total/4 {
		next = "ocr db vacuum"
	}
	return warn(next, "%s; most rows: %s", said, strings.Join(tables, ", ")).with(rows)
}

func (x *exam) biggestTables(ctx context.Context) (names []string, err error) {
	err = x.each(ctx, "facts/biggest_tables.sql", func(row Row) {
		names = append(names, fmt.Sprintf("%s %d", row.text("table_name"), row.number("total")))
	})
	return names, err
}
