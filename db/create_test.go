package db

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// TestCreateRace lets many processes meet on a folder without a database.
func TestCreateRace(t *testing.T) {
	for range 3 {
		path := filepath.Join(t.TempDir(), "data", "ocr.db")
		race(t, path, "create", 16)
		wantSound(t, path)
	}
}

// TestUpgradeRace lets many processes meet on a file that lacks our own steps.
func TestUpgradeRace(t *testing.T) {
	for range 2 {
		path := at(t, SharedLatest)
		race(t, path, "create", 8)
		wantSound(t, path)
	}
}

// TestCreateKilled kills the creator at any moment: the next command opens
// what it left, and a reader sees no database or a whole one.
func TestCreateKilled(t *testing.T) {
	whole := 0
	for range 25 {
		path := filepath.Join(t.TempDir(), "ocr.db")
		killed(t, path)
		switch err := readNothing(path); KindOf(err) {
		case "":
			must(t, err)
			whole++
		case KindNoDatabase:
		default:
			t.Fatalf("a reader after the death: %v", err)
		}
		must(t, open(t, path, Options{Create: true}).Close())
		wantSound(t, path)
	}
	t.Logf("%d of 25 were whole before the death", whole)
}

// TestUpgradeKilled does the same to a process that runs our own steps.
func TestUpgradeKilled(t *testing.T) {
	for range 15 {
		path := at(t, SharedLatest)
		killed(t, path)
		must(t, open(t, path, Options{}).Close())
		wantSound(t, path)
	}
}

func race(t *testing.T, path, verb string, processes int) {
	t.Helper()
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			if out, err := command(verb, path).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
}

func killed(t *testing.T, path string) {
	t.Helper()
	cmd := command("create", path)
	must(t, cmd.Start())
	time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func wantSound(t *testing.T, path string) {
	t.Helper()
	for query, want := range map[string]int{
		"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'": 1,
		"SELECT count(*) FROM schema_migrations":                                   1,
		"SELECT max(version) FROM schema_migrations WHERE dirty = 0":               Latest(),
		"SELECT count(*) FROM schema_version":                                      SharedLatest,
	} {
		if got := number(t, path, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

// stepsTo are the steps of this program up to a version.
func stepsTo(t *testing.T, version int) fstest.MapFS {
	t.Helper()
	steps := fstest.MapFS{}
	for i, name := range stepNames(t) {
		if i+1 > version {
			break
		}
		body, err := embedded.ReadFile("schema/" + name)
		must(t, err)
		steps["schema/"+name] = &fstest.MapFile{Data: body}
	}
	return steps
}

// at makes a database as a program that knew steps up to version made it.
func at(t *testing.T, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ocr.db")
	openAt(t, path, version, nil)
	return path
}

func openAt(t *testing.T, path string, version int, notice func(string)) {
	t.Helper()
	o := newOpener(path, Options{Create: true, NoSnapshot: true, Notice: notice})
	o.steps = stepsTo(t, version)
	s, err := o.open(t.Context())
	must(t, err)
	must(t, s.Close())
}
