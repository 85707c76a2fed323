package project

import (
	"os"
	"path/filepath"
	"strings"
)

// SessionDir returns the folder of a session. stored is what the database
// holds for it: an absolute path, or one relative to the root. An absolute path
// that ends in .ocr/sessions and the id means the folder of that id below
// Sessions, wherever the project stands by now: it may have been moved, cloned
// or copied, and nothing may be written where it used to be. Any other absolute
// path that no longer exists gives way to that folder if there is one.
func (p Project) SessionDir(stored, id string) string {
	home := filepath.Join(p.Sessions(), folderName(id))
	if stored == "" {
		return home
	}
	if !absolute(stored) {
		return filepath.Join(p.Root, stored)
	}
	tail := "/" + Marker + "/sessions/" + folderName(id)
	if strings.HasSuffix(strings.ReplaceAll(stored, `\`, "/"), tail) {
		return home
	}
	if _, err := os.Stat(stored); err == nil {
		return stored
	}
	if info, err := os.Stat(home); err == nil && info.IsDir() {
		return home
	}
	return stored
}

// folderName is the id itself wherever it can be one folder; other writers may
// have stored ids such as "../x", which must not lead out of Sessions.
func folderName(id string) string {
	if id != "." && filepath.IsLocal(id) && !strings.ContainsAny(id, `/\`) {
		return id
	}
	return suggestID(id)
}

// absolute knows the forms of every system, because a database moves between
// them: "/a/b" and `C:\a` are absolute everywhere.
func absolute(path string) bool {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') &&
		('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}
