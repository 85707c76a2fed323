package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestUpgradeDeath kills an upgrade before each of its statements and file
// operations, and opens the file with the next command. From every version it
// goes through the operations of the first step: those of later ones are met
// from the versions in between. Without DB_TEST_ALL it takes a share of them.
func TestUpgradeDeath(t *testing.T) {
	share := 23
	if os.Getenv("DB_TEST_ALL") != "" {
		share = 1
	}
	var work []func()
	kills := 0
	for version := 1; version < Latest(); version++ {
		path := oldFile(t, version)
		before := readContent(t, path)
		counting := &fault{}
		s, err := counting.opener(path).open(t.Context())
		must(t, err)
		must(t, s.Close())
		// A step has at most 50 operations, and as many come before the first.
		last := min(int(counting.count.Load()), 100)
		for at := 1 + version%share; at <= last; at += share {
			kills++
			work = append(work, func() { dieAt(t, version, at, before) })
		}
	}
	inParallel(work)
	t.Logf("%d deaths", kills)
}

func dieAt(t *testing.T, version, at int, before rowsOf) {
	path := filepath.Join(fastDir(t), "ocr.db")
	must(t, os.WriteFile(path, oldBytes(t, version), 0o644))
	out, err := command("upgrade-until", path, strconv.Itoa(at)).CombinedOutput()
	if err == nil || len(out) > 0 {
		t.Errorf("version %d, operation %d: no death: %v %s", version, at, err, out)
		return
	}
	if _, err := Migrate(context.Background(), path, Options{}); err != nil {
		t.Errorf("version %d, operation %d: the next command: %v", version, at, err)
		return
	}
	wantUpgraded(t, path)
	wantKept(t, before, readContent(t, path))
	wantOneSnapshot(t, path, version, before)
	if t.Failed() {
		t.Errorf("version %d, operation %d", version, at)
	}
}

// wantOneSnapshot wants one good copy of the version that the upgrade began
// at. One of a version in between belongs to the second upgrade.
func wantOneSnapshot(t *testing.T, path string, version int, before rowsOf) {
	t.Helper()
	found := 0
	for _, label := range snapshots(t, path) {
		var of int
		if _, err := fmt.Sscanf(label, "v%d", &of); err != nil || strings.Contains(label, ".") || of < version {
			t.Errorf("an odd snapshot: %s", label)
			continue
		}
		if of == version {
			found++
			wantSnapshot(t, path+snapshotMark+label, version, before)
		}
	}
	if found != 1 {
		t.Errorf("%d snapshots of version %d: %v", found, version, snapshots(t, path))
	}
}

func inParallel(work []func()) {
	queue := make(chan func())
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			for do := range queue {
				do()
			}
		})
	}
	for _, do := range work {
		queue <- do
	}
	close(queue)
	all.Wait()
}

// TestUpgradeFault fails each statement and file operation of an upgrade once:
// the error has a kind, the file keeps its rows, and the next command finds
// nothing in its way. Without DB_TEST_ALL it takes a share of them.
func TestUpgradeFault(t *testing.T) {
	share := 37
	if os.Getenv("DB_TEST_ALL") != "" {
		share = 1
	}
	faults, harmless := 0, 0
	for _, version := range []int{1, 4, 8, 10, 11, 13, 14} {
		body := oldBytes(t, version)
		before := readContent(t, oldFile(t, version))
		counting := &fault{}
		s, err := counting.opener(oldFile(t, version)).open(t.Context())
		must(t, err)
		must(t, s.Close())
		for at := 1 + version%share; at <= int(counting.count.Load()); at += share {
			faults++
			path := filepath.Join(fastDir(t), "ocr.db")
			must(t, os.WriteFile(path, body, 0o644))
			cause := syscall.ENOSPC
			if at%2 == 0 {
				cause = syscall.EIO
			}
			f := &fault{at: int64(at), strike: func() error { return &os.PathError{Op: "write", Path: path, Err: cause} }}
			s, err := f.opener(path).open(t.Context())
			if err == nil {
				// What only tidies up may fail without harm.
				harmless++
				must(t, s.Close())
			} else if !errors.Is(err, cause) {
				t.Errorf("version %d, operation %d: %v, want %v", version, at, err, cause)
			}
			if _, err := Migrate(t.Context(), path, Options{}); err != nil {
				t.Fatalf("version %d, operation %d: the next command: %v", version, at, err)
			}
			wantUpgraded(t, path)
			wantKept(t, before, readContent(t, path))
		}
	}
	t.Logf("%d faults, %d of them without harm", faults, harmless)
	if harmless > faults/3 {
		t.Error("most faults do nothing: they do not strike where the work is done")
	}
}

// nodeUpgrade upgrades as the other line of programs does: it knows only
// schema_version, reads the version before the lock, and again inside.
func nodeUpgrade(ctx context.Context, path string) error {
	pool, err := sql.Open("sqlite", mustAddress(path)+"&_txlock=immediate")
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	for step := 1; step <= SharedLatest; step++ {
		body, err := stepSQL(step)
		if err != nil {
			return err
		}
		if _, err := pool.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
			return err
		}
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		var version int
		err = tx.QueryRowContext(ctx, "SELECT max(version) FROM schema_version").Scan(&version)
		if err == nil && version < step {
			_, err = tx.ExecContext(ctx, body)
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return pool.Close()
}

// TestUpgradeRaceOld lets processes of this program and of the other line
// meet on an old file: all succeed. DB_TEST_ALL makes it 200 rounds.
func TestUpgradeRaceOld(t *testing.T) {
	rounds := 20
	if os.Getenv("DB_TEST_ALL") != "" {
		rounds = 200
	}
	for round := range rounds {
		version := 1 + round%SharedLatest
		path := oldFile(t, version)
		before := readContent(t, path)
		raw(t, path, "PRAGMA journal_mode = WAL")
		foreign := 0
		if round%2 == 1 {
			foreign = 3
		}
		var all sync.WaitGroup
		for i := range 8 {
			verb := "create"
			if i < foreign {
				verb = "node"
			}
			all.Go(func() {
				if out, err := command(verb, path).CombinedOutput(); err != nil {
					t.Errorf("round %d, from version %d: %s: %v: %s", round, version, verb, err, out)
				}
			})
		}
		all.Wait()
		wantUpgraded(t, path)
		wantKept(t, before, readContent(t, path))
		found := snapshots(t, path)
		if len(found) != 1 || strings.Contains(found[0], ".") || foreign == 0 && found[0] != fmt.Sprintf("v%d", version) {
			t.Errorf("round %d, from version %d: snapshots %v", round, version, found)
		} else {
			// The other line may have moved the file on before it was copied.
			of := number(t, path+snapshotMark+found[0], "SELECT max(version) FROM schema_version")
			if foreign == 0 {
				wantSnapshot(t, path+snapshotMark+found[0], version, before)
			} else if found[0] != fmt.Sprintf("v%d", of) {
				t.Errorf("round %d: %s holds version %d", round, found[0], of)
			}
		}
		if t.Failed() {
			return
		}
	}
}
