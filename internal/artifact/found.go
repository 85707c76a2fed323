package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Found is what somebody left in the artifact directory of a session. It is
// read without following a symbolic link.
type Found struct {
	// HasRounds and HasMap tell which of the two folders of work are there.
	HasRounds, HasMap bool
	// Rounds and Runs are the numbers of their folders, ascending.
	Rounds, Runs []int64
	// files are the .md and .json files, as slash paths inside the directory.
	files []string
	root  *os.Root
}

// Markdown is one text for people.
type Markdown struct {
	// Path is a slash path inside the artifact directory.
	Path string
	// Kind is the name of the file without .md; of a reviewer's own text it is
	// "reviewer-output".
	Kind string
	// Round is the review round it belongs to, 0 when to none.
	Round int64
	// Text has every byte that is no UTF-8 replaced.
	Text string
}

// Find looks through an artifact directory. Hidden files and folders do not
// count. The caller closes what it returns.
func Find(dir string) (found *Found, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("look through an artifact folder: %w", err)
	}
	found = &Found{root: root}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
			found.addDir(name)
		case entry.Type().IsRegular() && (path.Ext(name) == ".md" || path.Ext(name) == ".json"):
			found.files = append(found.files, name)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look through the artifact folder %s: %w", dir, err), root.Close())
	}
	slices.Sort(found.Rounds)
	slices.Sort(found.Runs)
	return found, nil
}

func (f *Found) addDir(name string) {
	switch parent, last := path.Split(name); {
	case name == "rounds":
		f.HasRounds = true
	case name == "map":
		f.HasMap = true
	case parent == "rounds/":
		if n, ok := folderNumber(last, "round-"); ok {
			f.Rounds = append(f.Rounds, n)
		}
	case parent == "map/runs/":
		if n, ok := folderNumber(last, "run-"); ok {
			f.Runs = append(f.Runs, n)
		}
	}
}

// Close ends the access.
func (f *Found) Close() error { return f.root.Close() }

// Empty tells that there is no .md and no .json file at all.
func (f *Found) Empty() bool { return len(f.files) == 0 }

// Has tells whether a .md or .json file of this name is there.
func (f *Found) Has(name string) bool { return slices.Contains(f.files, name) }

// Path is the absolute path of a file inside the directory.
func (f *Found) Path(name string) string {
	return filepath.Join(f.root.Name(), filepath.FromSlash(name))
}

// Read gives the content of a file, but no more than one byte over MaxPayload.
func (f *Found) Read(name string) (data []byte, err error) {
	file, err := f.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the artifact %s: %w", f.Path(name), err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if data, err = io.ReadAll(io.LimitReader(file, MaxPayload+1)); err != nil {
		return nil, fmt.Errorf("read the artifact %s: %w", f.Path(name), err)
	}
	return data, nil
}

// Markdown reads every text for people. Those over MaxPayload are not read but
// named in tooLarge.
func (f *Found) Markdown() (texts []Markdown, tooLarge []string, err error) {
	for _, name := range f.files {
		if path.Ext(name) != ".md" {
			continue
		}
		data, err := f.Read(name)
		if err != nil {
			return nil, nil, err
		}
		if len(data) > MaxPayload {
			tooLarge = append(tooLarge, name)
			continue
		}
		text := Markdown{
			Path: name, Kind: strings.TrimSuffix(path.Base(name), ".md"),
			Text: strings.ToValidUTF8(string(data), "\uFFFD"),
		}
		parts := strings.Split(name, "/")
		if len(parts) > 2 && parts[0] == "rounds" {
			text.Round, _ = folderNumber(parts[1], "round-")
			if text.Round != 0 && len(parts) == 4 && parts[2] == "reviews" {
				text.Kind = "reviewer-output"
			}
		}
		texts = append(texts, text)
	}
	return texts, tooLarge, nil
}
