package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ocr/db"
)

// ignoreRules keeps the database out of version control: it is binary, it
// changes with every command and holds process ids of one machine. The session
// folders and the configuration are text that a team reviews and shares, and
// the database can be filled again from them.
const ignoreRules = `# The state database belongs to this machine.
# sessions/ and config.yaml are text and meant to be shared.
/data/
`

// ignoreAll keeps everything beside it out of version control, itself included:
// git stash -u and git clean then leave the database alone, also where the rules
// above it are not there.
const ignoreAll = "*\n"

// Blocked says that something other than a directory stands where a project
// needs one.
type Blocked struct {
	Path string
	// What says what stands there, where that is known.
	What string
}

func (e *Blocked) Error() string {
	if e.What != "" {
		return e.Path + " is " + e.What
	}
	return e.Path + " exists and is not a directory"
}

// Init makes dir a project and returns the paths it made, relative to dir and
// with forward slashes; none when all was there. What exists is never touched.
// The error is a *Blocked, or what the file system said.
func Init(dir string) (created []string, err error) {
	real, err := realDirectory(dir)
	if err != nil {
		return nil, err
	}
	p := Project{Root: real}
	// Other programs that share the project refuse it without the folder skills.
	for _, path := range []string{p.Dir(), p.Sessions(), p.Data(), filepath.Join(p.Dir(), "skills")} {
		made, err := makeDirectory(path)
		if err != nil {
			return created, err
		}
		if made {
			created = append(created, relative(real, path)+"/")
		}
	}
	for _, file := range []struct{ dir, text string }{{p.Dir(), ignoreRules}, {p.Data(), ignoreAll}} {
		path := filepath.Join(file.dir, ".gitignore")
		made, err := makeFile(path, file.text)
		if err != nil {
			return created, err
		}
		if made {
			created = append(created, relative(real, path))
		}
	}
	return created, nil
}

// Unignored says that git may take the folder of data, because of what stands
// in the place of its .gitignore.
type Unignored struct {
	Path string
	// Appendable: it is a file to which the line can be added.
	Appendable bool
	// What says what is wrong with it.
	What string
}

func (e *Unignored) Error() string { return e.Path + " " + e.What }

// CheckIgnored is nil where .gitignore in the folder of data is a regular file
// with a line *, whatever else it holds, or not there. Else it is an
// *Unignored, or what the file system said.
func (p Project) CheckIgnored() error {
	path := filepath.Join(p.Data(), ".gitignore")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// Git does not look into a folder behind a link.
	if data, err := os.Lstat(p.Data()); err != nil || !data.IsDir() {
		return nil
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &Unignored{Path: path, What: "is a symbolic link, which git does not follow"}
	case info.IsDir():
		return &Unignored{Path: path, What: "is a folder"}
	case !info.Mode().IsRegular():
		return &Unignored{Path: path, What: "is not a regular file"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if strings.TrimRight(line, " \r\n")+"\n" == ignoreAll {
			return nil
		}
	}
	return &Unignored{Path: path, Appendable: true, What: "has no line *"}
}

// KeepIgnored makes the file again that keeps the folder of data out of version
// control, where it is gone. Whatever stands under its name stays, and is
// checked as CheckIgnored does; without that folder there is nothing to do.
func (p Project) KeepIgnored() error {
	path := filepath.Join(p.Data(), ".gitignore")
	_, err := os.Lstat(path)
	if err == nil {
		return p.CheckIgnored()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Git does not look into a folder behind a link.
	if info, err := os.Lstat(p.Data()); err != nil || !info.IsDir() {
		return nil
	}
	file, err := db.RightsOf(p.Database()).Create(path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(ignoreAll)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// makeDirectory reports false when path already is a directory.
func makeDirectory(path string) (bool, error) {
	err := os.Mkdir(path, 0o777)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("making a project: %w", err)
	}
	info, statErr := os.Stat(path)
	if statErr != nil || !info.IsDir() {
		return false, &Blocked{Path: path}
	}
	return false, nil
}

// makeFile reports false when something of that name already exists. A file
// that could not be written whole is not left behind.
func makeFile(path, text string) (bool, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("making a project: %w", err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return false, fmt.Errorf("making a project: %w", errors.Join(err, os.Remove(path)))
	}
	return true, nil
}

func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}
