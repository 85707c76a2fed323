package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ocr/db"
	"ocr/internal/project"
	"ocr/internal/shell"
)

func placeProject(_ context.Context, x *exam) result {
	var none *project.NotFound
	var blocked *project.Blocked
	switch {
	case errors.As(x.noProject, &blocked):
		return fail("ls -ld "+shell.Quote(blocked.Path), "%s", blocked.Error())
	case errors.As(x.noProject, &none):
		return fail("ocr doctor -C DIR", "%s", none.Error())
	case x.noProject != nil:
		return unknown(x.noProject, "ls -ld "+shell.Quote(x.Start))
	}
	why := "it is the nearest one upward from " + x.Start
	if start, err := filepath.EvalSymlinks(x.Start); err == nil && start == x.project.Root {
		why = "it is in the start directory itself"
	}
	return ok("using %s because %s", x.project.Dir(), why)
}

// placeDatabase tells the cases apart that all mean "no database": never made,
// gone, empty, unreadable, of another program, or none at all.
func placeDatabase(_ context.Context, x *exam) result {
	look := x.lookBeside()
	info, err := x.head.info, x.head.err
	switch {
	case errors.Is(err, fs.ErrNotExist) && db.KindOf(x.refused) == db.KindUnreadable:
		return fail("ls -la "+shell.Quote(x.project.Data()), "%s", x.refused)
	case errors.Is(err, fs.ErrNotExist):
		return x.absentDatabase(look)
	case err != nil:
		return fail(look, "%s cannot be read: %v", x.path, errors.Unwrap(err))
	case info.IsDir():
		return fail(look, "%s is a folder", x.path)
	case !info.Mode().IsRegular():
		return fail(look, "%s is not a regular file", x.path)
	case info.Size() == 0:
		return fail(look, "%s is empty (0 bytes)", x.path)
	case !x.head.sqlite, db.KindOf(x.refused) == db.KindNotADatabase:
		return fail(look, "%s (%s) is not a SQLite database: its first 100 bytes are others", x.path, db.FormatBytes(info.Size()))
	case db.KindOf(x.refused) == db.KindNoDatabase:
		return ok("%s holds no table yet: the first session makes them", x.path)
	case errors.Is(x.refused, errNotOurs):
		return fail(look, "%s is a SQLite database of another program (application_id %d)", x.path, x.facts.applicationID)
	}
	if named := x.project.Database(); named != x.path {
		return ok("using %s (%s) because links lead there from %s; its log, lock and snapshots stand beside it", x.path, db.FormatBytes(info.Size()), named)
	}
	return ok("using %s (%s) because it belongs to that project", x.path, db.FormatBytes(info.Size()))
}

// lookBeside lists the files beside the database.
func (x *exam) lookBeside() string { return "ls -la " + shell.Quote(filepath.Dir(x.path)) }

// absentDatabase judges by what stands where a database would be.
func (x *exam) absentDatabase(look string) result {
	var traces []string
	entries, err := os.ReadDir(filepath.Dir(x.path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unknown(err, look)
	}
	base := filepath.Base(x.path)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), base) {
			traces = append(traces, entry.Name())
		}
	}
	sessions, err := os.ReadDir(x.project.Sessions())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unknown(err, "ls -la "+shell.Quote(x.project.Sessions()))
	}
	switch {
	case len(traces) > 0:
		return fail(look, "%s is missing, but there was one: %s", x.path, strings.Join(traces, ", "))
	case len(sessions) > 0:
		return warn("ocr state sync", "%s does not exist, and there are %d folders of sessions", x.path, len(sessions))
	}
	return ok("%s does not exist yet: the first session makes it", x.path)
}

// placeStores looks for databases that somebody might take for this one: in
// the other worktrees of the repository, and in projects further up.
func placeStores(_ context.Context, x *exam) result {
	var others []string
	for _, dir := range append(worktrees(x.project.Root), above(x.project.Root)...) {
		p := project.Project{Root: dir}
		if info, err := os.Stat(p.Database()); err == nil && info.Mode().IsRegular() {
			others = append(others, p.Database())
		}
	}
	if len(others) > 0 {
		return warn("ocr state list -C "+shell.Quote(filepath.Dir(filepath.Dir(filepath.Dir(others[0])))),
			"%d besides %s: %s", len(others), x.path, strings.Join(others, ", "))
	}
	return ok("no other")
}

// above are the directories above root, nearest first.
func above(root string) []string {
	var dirs []string
	for dir := root; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
}

// worktrees are the other worktrees of the git repository that root is in. The
// files are read that git-worktree(1) and gitrepository-layout(5) describe.
func worktrees(root string) []string {
	common := ""
	for dir := root; common == ""; dir = filepath.Dir(dir) {
		common = commonDir(dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if common == "" {
		return nil
	}
	found := []string{filepath.Dir(common)}
	links, err := filepath.Glob(filepath.Join(escapeGlob(common), "worktrees", "*", "gitdir"))
	if err != nil {
		links = nil
	}
	for _, link := range links {
		if text := firstLine(link); text != "" {
			found = append(found, filepath.Dir(text))
		}
	}
	var others []string
	for _, dir := range found {
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != root {
			others = append(others, real)
		}
	}
	return others
}

// commonDir is the git directory that all worktrees share, if dir is the top
// of one of them.
func commonDir(dir string) string {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return dotGit
	}
	own, found := strings.CutPrefix(firstLine(dotGit), "gitdir: ")
	if !found {
		return ""
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(dir, own)
	}
	common := firstLine(filepath.Join(own, "commondir"))
	switch {
	case common == "":
		return ""
	case filepath.IsAbs(common):
		return filepath.Clean(common)
	}
	return filepath.Join(own, common)
}

// firstLine is the first line of a small file; empty if it cannot be read.
func firstLine(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// placeRights asks the system what this user may do, which is more than the
// mode of a file tells.
func placeRights(_ context.Context, x *exam) result {
	for _, path := range []string{filepath.Dir(x.path), x.path} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if path == x.path {
				continue
			}
			path = x.project.Dir()
		}
		if err := mayWrite(path); err != nil {
			return fail("ls -ld "+shell.Quote(filepath.Dir(x.path))+" "+shell.Quote(x.path), "%s cannot be written: %v", path, err)
		}
	}
	return ok("this user may write %s", filepath.Dir(x.path))
}

// placeOwner: a log of another user is a wall for this one.
func placeOwner(_ context.Context, x *exam) result {
	look := x.lookBeside()
	if x.head.info == nil {
		return skip("there is no database: see place.database")
	}
	var strange []string
	count := 0
	for _, suffix := range []string{"-wal", "-shm", "-journal", ".lock"} {
		info, err := os.Lstat(x.path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && !info.Mode().IsRegular():
			continue // place.beside tells
		case err != nil:
			return unknown(err, look)
		}
		count++
		if mayWrite(x.path) == nil && mayWrite(x.path+suffix) != nil {
			return fail(look, "%s cannot be written, though the database can", filepath.Base(x.path+suffix))
		}
		if owner(info) != owner(x.head.info) {
			strange = append(strange, fmt.Sprintf("%s (user %s)", filepath.Base(x.path+suffix), owner(info)))
		}
	}
	if len(strange) > 0 {
		return warn(look, "of another owner than the database (user %s): %s", owner(x.head.info), strings.Join(strange, ", "))
	}
	return ok("%d files beside the database, all of its owner", count)
}

// leastFree is what a few commands need; a snapshot needs the size of the
// database besides.
const leastFree = 16 << 20

func placeSpace(_ context.Context, x *exam) result {
	next := "df -h " + shell.Quote(x.existing())
	free, err := db.FreeBytes(x.existing())
	if err != nil {
		return unknown(err, next)
	}
	switch database := x.databaseSize(); {
	case free < leastFree:
		return fail(next, "%s free", db.FormatBytes(free))
	case free < leastFree+database:
		return warn(next, "%s free: a snapshot of the database (%s) does not fit", db.FormatBytes(free), db.FormatBytes(database))
	}
	return ok("%s free", db.FormatBytes(free))
}

func placeFilesystem(_ context.Context, x *exam) result {
	d, err := diskOf(x.existing())
	if err != nil {
		return unknown(err, "df -T "+shell.Quote(x.existing()))
	}
	return judgeFilesystem(d, "ocr doctor --probe-write")
}

// judgeFilesystem: write-ahead logging needs memory that all users of the file
// share, which there is on one machine only: https://sqlite.org/wal.html.
func judgeFilesystem(d disk, next string) result {
	switch {
	case d.network:
		return fail(next, "%s is a file system of several machines", d.kind)
	case d.kind == "":
		return ok("its kind is not known")
	}
	return ok("%s", d.kind)
}

// existing is the folder of the database, or the nearest one that is there.
func (x *exam) existing() string {
	if info, err := os.Stat(filepath.Dir(x.path)); err == nil && info.IsDir() {
		return filepath.Dir(x.path)
	}
	return x.project.Dir()
}

func (x *exam) databaseSize() int64 {
	if x.head.info == nil {
		return 0
	}
	return x.head.info.Size()
}
