package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"
)

type sqlConn = sql.Conn

// fullDisk has no room.
type fullDisk struct{ realDisk }

func (fullDisk) free(string) (int64, error) { return 100, nil }

// brokenDisk fails at one kind of operation.
type brokenDisk struct {
	realDisk
	at string
}

func (d brokenDisk) fails(op, path string) error {
	if op == d.at {
		return &fs.PathError{Op: op, Path: path, Err: syscall.EIO}
	}
	return nil
}

func (d brokenDisk) sync(path string) error {
	if err := d.fails("sync", path); err != nil {
		return err
	}
	return d.realDisk.sync(path)
}

func (d brokenDisk) link(from, to string) error {
	if err := d.fails("link", to); err != nil {
		return err
	}
	return d.realDisk.link(from, to)
}

func (d brokenDisk) remove(path string) error {
	if err := d.fails("remove", path); err != nil {
		return err
	}
	return d.realDisk.remove(path)
}

// fault strikes at one operation of an upgrade, counted from 1: a statement
// or something asked of the disk. It strikes before the operation; what lies
// between two operations changes nothing on the disk.
type fault struct {
	at    int64
	count atomic.Int64
	// strike returns the error of the operation, or does not return.
	strike func() error
}

func (f *fault) tick() error {
	if f.count.Add(1) == f.at {
		return f.strike()
	}
	return nil
}

// opener is one whose operations are counted.
func (f *fault) opener(path string) opener {
	o := newOpener(path, Options{})
	o.engine, o.disk = faultyEngine(f), faultyDisk{realDisk{}, f}
	return o
}

type faultyDisk struct {
	realDisk
	f *fault
}

func (d faultyDisk) free(dir string) (int64, error) {
	if err := d.f.tick(); err != nil {
		return 0, err
	}
	return d.realDisk.free(dir)
}

func (d faultyDisk) sync(path string) error {
	if err := d.f.tick(); err != nil {
		return err
	}
	return d.realDisk.sync(path)
}

func (d faultyDisk) link(from, to string) error {
	if err := d.f.tick(); err != nil {
		return err
	}
	return d.realDisk.link(from, to)
}

func (d faultyDisk) remove(path string) error {
	if err := d.f.tick(); err != nil {
		return err
	}
	return d.realDisk.remove(path)
}

// faultyEngine registers a driver that counts statements for f.
func faultyEngine(f *fault) string {
	struck.Store(f)
	registerStruck()
	return "struck"
}

var struck atomic.Pointer[fault]

var registerStruck = sync.OnceFunc(func() { sql.Register("struck", struckDriver{&sqlite.Driver{}}) })

type struckDriver struct{ driver.Driver }

func (d struckDriver) Open(name string) (driver.Conn, error) {
	conn, err := d.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return struckConn{conn.(engineConn)}, nil
}

// engineConn is what package database/sql uses of the engine's connection.
type engineConn interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
	driver.ConnPrepareContext
	restorer
	sqlite.HookRegisterer
}

type struckConn struct{ engineConn }

func (c struckConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := struck.Load().tick(); err != nil {
		return nil, err
	}
	return c.engineConn.ExecContext(ctx, query, args)
}

func (c struckConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := struck.Load().tick(); err != nil {
		return nil, err
	}
	return c.engineConn.QueryContext(ctx, query, args)
}

func (c struckConn) NewRestore(source string) (*sqlite.Backup, error) {
	if err := struck.Load().tick(); err != nil {
		return nil, err
	}
	return c.engineConn.NewRestore(source)
}

// age makes a folder look old.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(dir, old, old))
}

// notesSum is 0 unless a reader sees half of a foreign transaction.
func notesSum(t testing.TB, path string) int {
	t.Helper()
	return number(t, path, "SELECT IFNULL(sum(CAST(content AS INTEGER)), 0) FROM user_notes")
}

// foreignWriter writes pairs of notes as another program does, until stopped;
// then it says how many.
func foreignWriter(t *testing.T, path string) (stop func() int) {
	t.Helper()
	pool, err := sql.Open("sqlite", mustAddress(path)+"&_txlock=immediate")
	must(t, err)
	pool.SetMaxOpenConns(1)
	end, ended, started := make(chan struct{}), make(chan int), make(chan struct{})
	go func() {
		written := 0
		defer func() { ended <- written }()
		for {
			select {
			case <-end:
				return
			default:
			}
			tx, err := pool.Begin()
			if err != nil {
				continue
			}
			for _, n := range []int{written + 1, -written - 1} {
				if _, err := tx.Exec("INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 's', ?)", n); err != nil {
					t.Error(err)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
			if written++; written == 1 {
				close(started)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	<-started
	return func() int {
		close(end)
		written := <-ended
		must(t, pool.Close())
		return written
	}
}
