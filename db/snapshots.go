package db

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// snapshotMark stands between the name of the database and the label of each
// of its snapshots.
const snapshotMark = ".bak."

// snapshotStamp is a time in the name of a snapshot, UTC; the last point
// becomes a dash.
const snapshotStamp = "2006-01-02T15-04-05.000Z"

// Labels of the snapshots that programs take before they change much. The
// label of one taken before an upgrade is v and the version.
const (
	LabelDoctor = "doctor"
	LabelPrune  = "prune"
	LabelVacuum = "vacuum"
)

// SnapshotFile is a file beside a database that, by its name, is a snapshot of
// it. What is in it nobody has looked at.
type SnapshotFile struct {
	// Name is that of the file, without its folder.
	Name  string
	Bytes int64
	// Label is what stands in the name before the stamp.
	Label string
	// Stamped says that there is a stamp. At is that time, else the time of
	// the file.
	Stamped bool
	At      time.Time
}

// Routine says that a program chose the label, before an upgrade or before
// maintenance, and no person.
func (s SnapshotFile) Routine() bool {
	return versionLabel(s.Label) || s.Stamped && RoutineLabel(s.Label)
}

// RoutineLabel says that programs choose this label by themselves.
func RoutineLabel(label string) bool {
	return versionLabel(label) || slices.Contains([]string{LabelDoctor, LabelPrune, LabelVacuum}, label)
}

func versionLabel(label string) bool {
	number, found := strings.CutPrefix(label, "v")
	return found && number != "" && strings.Trim(number, "0123456789") == ""
}

// Snapshots lists the snapshots of the database at path, newest first: they
// stand beside the real file, wherever links to it stand. Files
// in the making and those that the engine keeps beside an open file are none.
func Snapshots(path string) ([]SnapshotFile, error) {
	path = RealPath(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []SnapshotFile
	for _, entry := range entries {
		end, found := strings.CutPrefix(entry.Name(), filepath.Base(path)+snapshotMark)
		if !found || !entry.Type().IsRegular() || passingName(end) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := SnapshotFile{Name: entry.Name(), Bytes: info.Size(), Label: end, At: info.ModTime()}
		label, stamp, _ := strings.Cut(end, ".")
		if at, stamped := stampedAt(stamp); stamped {
			s.Label, s.Stamped, s.At = label, true, at
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b SnapshotFile) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Name, b.Name))
	})
	return list, nil
}

// passingName knows the ends of names that last only for a while.
func passingName(name string) bool {
	return slices.ContainsFunc([]string{"-wal", "-shm", "-journal", ".partial", ".tmp"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// stamped is the end of the name of a snapshot that is made now.
func stamped(label string) string {
	stamp := time.Now().UTC().Format(snapshotStamp)
	return label + "." + strings.Replace(stamp, ".", "-", 1)
}

// stampedAt reads the stamp of a moment, which has a dash where Go's layouts
// want a dot.
func stampedAt(stamp string) (time.Time, bool) {
	last := strings.LastIndex(stamp, "-")
	if last < 0 {
		return time.Time{}, false
	}
	at, err := time.Parse(snapshotStamp, stamp[:last]+"."+stamp[last+1:])
	return at, err == nil
}

// newestSnapshot is the path of the newest snapshot that is not empty, or "".
func newestSnapshot(path string) string {
	list, err := Snapshots(path)
	if err != nil {
		return ""
	}
	for _, s := range list {
		if s.Bytes > 0 {
			return filepath.Join(filepath.Dir(RealPath(path)), s.Name)
		}
	}
	return ""
}
