package lifecycle

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/artifact"
	"ocr/internal/shell"
)

// The kinds of refusals about the folder of a session.
const (
	// KindFolderTaken: another session has the folder.
	KindFolderTaken = "folder_taken"
	// KindFolderOutside: the row names a folder that is not written to.
	KindFolderOutside = "folder_outside"
)

// openFolder opens the folder of a session for writing. What is made in it has
// the rights of the database.
func (c Caller) openFolder(dir string) (*artifact.Dir, error) {
	return artifact.OpenDir(db.RightsOf(c.Project.Database()), c.Project.Dir(), dir)
}

// checkFolder holds the stored folder of a session to where writing may go:
// inside .ocr, whatever links stand on the way there; or the folder that begin
// made elsewhere, because its caller named it. begin stores such a folder as an
// absolute path. A row may hold anything: a relative path that leads out of the
// project, and a folder outside .ocr that is not there, are refused (Invariant).
func (c Caller) checkFolder(s session, dir string) error {
	if artifact.Inside(c.Project.Dir(), dir) {
		return nil
	}
	info, err := os.Stat(dir)
	there := err == nil && info.IsDir()
	if there && filepath.IsAbs(s.SessionDir) && s.SessionDir == filepath.Clean(s.SessionDir) {
		return nil
	}
	if there && !filepath.IsAbs(s.SessionDir) && isBelow(c.Project.Root, db.RealPath(dir)) {
		return nil
	}
	why := "there is no such folder"
	if there {
		why = "a stored path does not lead out of the project"
	}
	// An absolute path to nothing gives way to the folder that begin makes. Any
	// other value only its own program can set right, or a person.
	home := c.Project.SessionDir("", s.ID)
	next := "mkdir -p " + shell.Quote(home)
	if there || dir != s.SessionDir {
		next = "sqlite3 " + shell.Quote(c.Project.Database()) + " " + shell.Quote(db.StoreSessionDir(s.ID, home))
	}
	return refuse(Invariant, KindFolderOutside, next,
		"the folder of session %q is stored as %q, outside .ocr, and nothing is written there: %s; its files may be at %s, and the next command has them written below .ocr",
		s.ID, s.SessionDir, why, dir)
}

// checkFolderFree refuses (Invariant) a folder that is also the folder of
// another session, by whatever path, and one in which files, a slash path, leads
// over a link into the folder of another: one of the two would replace the
// results of the other.
func (c Caller) checkFolderFree(ctx context.Context, q *gen.Queries, id, dir, files string) error {
	rows, err := q.SyncKnown(ctx)
	if err != nil {
		return err
	}
	mine, mineErr := os.Stat(dir)
	strays := straysTo(dir, files)
	for _, row := range rows {
		if row.ID == id {
			continue
		}
		other := c.Project.SessionDir(row.SessionDir, row.ID)
		taken := filepath.Clean(other) == filepath.Clean(dir)
		if theirs, err := os.Stat(other); err == nil {
			taken = taken || mineErr == nil && os.SameFile(mine, theirs) || strays != "" && isBelow(db.RealPath(other), strays)
		}
		if taken {
			return refuse(Invariant, KindFolderTaken, commandLine(append([]string{"ocr", "state", "show", "--session-id=" + row.ID}, c.trailing()...)),
				"the folder %s belongs to session %q, and session %q cannot write there; another session takes another id, or another folder with --session-dir",
				dir, row.ID, id)
		}
	}
	return nil
}

// straysTo is the real folder to which a link inside dir takes files; empty when
// they stay in dir.
func straysTo(dir, files string) string {
	for at := filepath.Join(dir, filepath.FromSlash(files)); at != dir && isBelow(dir, at); at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			continue // not there yet
		}
		if isBelow(db.RealPath(dir), real) {
			return ""
		}
		return real
	}
	return ""
}

// isBelow reports whether path is dir or lies below it.
func isBelow(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
