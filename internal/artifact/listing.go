package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Inventory is what lies in the artifact directory of a session. Neither list
// is ever nil.
type Inventory struct {
	Rounds  []RoundFiles `json:"rounds"`
	MapRuns []MapFiles   `json:"map_runs"`
}

// RoundFiles are the files of one review round: absolute paths, nil where there
// is no such file.
type RoundFiles struct {
	Round       int64   `json:"round"`
	FinalMD     *string `json:"final_md"`
	DiscourseMD *string `json:"discourse_md"`
	RoundMeta   *string `json:"round_meta"`
	// Reviewers are the names of the texts in reviews, sorted, without .md.
	Reviewers []string `json:"reviewers"`
}

// MapFiles are the files of one map run: absolute paths, nil where there is no
// such file.
type MapFiles struct {
	Run     int64   `json:"run"`
	MapMD   *string `json:"map_md"`
	MapMeta *string `json:"map_meta"`
}

// Listing reads what is on disk, rounds and runs in ascending order. A
// directory that is not there holds nothing.
func Listing(dir string) (Inventory, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return Inventory{}, fmt.Errorf("find the folder %s: %w", dir, err)
	}
	in := Inventory{Rounds: []RoundFiles{}, MapRuns: []MapFiles{}}
	rounds, err := numbered(full, "rounds", "round-")
	if err != nil {
		return Inventory{}, err
	}
	for _, n := range rounds {
		files, err := roundFiles(full, n)
		if err != nil {
			return Inventory{}, err
		}
		in.Rounds = append(in.Rounds, files)
	}
	runs, err := numbered(full, "map/runs", "run-")
	if err != nil {
		return Inventory{}, err
	}
	for _, n := range runs {
		files, err := mapFiles(full, n)
		if err != nil {
			return Inventory{}, err
		}
		in.MapRuns = append(in.MapRuns, files)
	}
	return in, nil
}

func roundFiles(dir string, n int64) (files RoundFiles, err error) {
	files.Round = n
	if files.FinalMD, err = present(dir, RoundFinal(n)); err != nil {
		return files, err
	}
	if files.DiscourseMD, err = present(dir, RoundDiscourse(n)); err != nil {
		return files, err
	}
	if files.RoundMeta, err = present(dir, RoundMeta(n)); err != nil {
		return files, err
	}
	files.Reviewers, err = reviewers(dir, n)
	return files, err
}

func mapFiles(dir string, n int64) (files MapFiles, err error) {
	files.Run = n
	if files.MapMD, err = present(dir, MapFinal(n)); err != nil {
		return files, err
	}
	files.MapMeta, err = present(dir, MapMeta(n))
	return files, err
}

func reviewers(dir string, n int64) ([]string, error) {
	names := []string{}
	entries, err := entries(dir, RoundReviews(n))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".md")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		there, err := Exists(dir, RoundReviews(n)+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		if there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// numbered finds the folders <prefix><n> below rel, n from 1 up without leading
// zeros, in ascending order.
func numbered(dir, rel, prefix string) ([]int64, error) {
	entries, err := entries(dir, rel)
	if err != nil {
		return nil, err
	}
	var found []int64
	for _, e := range entries {
		n, ok := folderNumber(e.Name(), prefix)
		if !ok {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(rel), e.Name()))
		if err == nil && info.IsDir() {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, cmp.Compare[int64])
	return found, nil
}

// folderNumber reads the number of a round or run from the name of its folder.
func folderNumber(name, prefix string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 1 || n > maxInteger || strconv.FormatInt(n, 10) != digits {
		return 0, false
	}
	return n, true
}

// entries reads a folder; one that is not there has none.
func entries(dir, rel string) ([]os.DirEntry, error) {
	found, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(rel)))
	if err != nil && !absent(err) {
		return nil, fmt.Errorf("list the artifacts: %w", err)
	}
	return found, nil
}

// present is the absolute path of a file that is there, else nil.
func present(dir, rel string) (*string, error) {
	there, err := Exists(dir, rel)
	if err != nil || !there {
		return nil, err
	}
	name := filepath.Join(dir, filepath.FromSlash(rel))
	return &name, nil
}

// Exists tells whether rel, a slash path inside dir, is a regular file or a
// link to one.
func Exists(dir, rel string) (bool, error) {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(rel)))
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for an artifact: %w", err)
	}
	return info.Mode().IsRegular(), nil
}

// absent tells that nothing has this name, be it that a folder on the way is
// missing or is a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
