package artifact

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// LeftAfter is how old a hidden file of a replacement must be to count as left
// behind by a program that died: a replacement takes no such time.
const LeftAfter = time.Hour

// What a hidden file beside a target holds.
const (
	newContent = "new"
	oldContent = "old"
)

// minRandom is how many characters rand.Text gives at least.
const minRandom = 26

// hiddenName is a new name beside target that nobody lists or reads.
func hiddenName(target, purpose string) string {
	return path.Join(path.Dir(target), "."+path.Base(target)+"."+rand.Text()+"."+purpose)
}

// IsLeftover tells from the name of a file, without its folder, that a
// replacement gave it. Such a file that stays has new content that never
// counted, or the content of the file as it was before.
func IsLeftover(name string) bool {
	_, purpose := hiddenParts(name)
	return purpose == newContent || purpose == oldContent
}

// hiddenParts takes a name apart again; both parts are empty where it is none
// of ours.
func hiddenParts(name string) (target, purpose string) {
	parts := strings.Split(name, ".")
	last := len(parts) - 1
	if last < 3 || parts[0] != "" || len(parts[last-1]) < minRandom {
		return "", ""
	}
	return strings.Join(parts[1:last-1], "."), parts[last]
}

// dropLeftovers removes the new contents of target that never counted, once
// they are old. What cannot be removed stays: it harms nobody.
func dropLeftovers(root *os.Root, target string) {
	// What can be listed counts, even if the listing breaks off.
	entries, _ := fs.ReadDir(root.FS(), path.Dir(target))
	for _, entry := range entries {
		of, purpose := hiddenParts(entry.Name())
		if of != path.Base(target) || purpose != newContent || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > LeftAfter {
			_ = root.Remove(path.Join(path.Dir(target), entry.Name()))
		}
	}
}
