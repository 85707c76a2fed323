package db

import (
	"bufio"
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The bytes of the -shm file that the engine locks:
// https://sqlite.org/walformat.html#wal_locks.
const (
	lockWrite      = 120
	lockCheckpoint = 121
	lockRead       = 123
	lockReadLast   = 127
)

// holders reads the kernel's table of file locks.
func holders(path string) []Holder {
	main, log := inode(path), inode(path+"-shm")
	table, err := os.ReadFile("/proc/locks")
	if main == 0 || err != nil {
		return nil
	}
	doing := map[int]string{}
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		pid, file, first, last, ok := lockLine(lines.Text())
		if !ok || pid == os.Getpid() || !(file == main || file == log) || !hasOpen(pid, path) {
			continue
		}
		if doing[pid] == "" {
			doing[pid] = "open"
		}
		if file != log {
			continue
		}
		covers := func(from, to int64) bool { return first <= to && last >= from }
		switch {
		case covers(lockWrite, lockWrite):
			doing[pid] = "writing"
		case doing[pid] == "writing":
		case covers(lockCheckpoint, lockCheckpoint):
			doing[pid] = "checkpointing"
		case doing[pid] == "open" && covers(lockRead, lockReadLast):
			doing[pid] = "reading"
		}
	}
	list := make([]Holder, 0, len(doing))
	for pid, what := range doing {
		list = append(list, Holder{PID: pid, Name: programName(pid), Doing: what})
	}
	slices.SortFunc(list, func(a, b Holder) int { return a.PID - b.PID })
	return list
}

// lockHolders are the processes that hold a lock on a file that has no other
// use.
func lockHolders(path string) []Holder {
	wanted := inode(path)
	table, err := os.ReadFile("/proc/locks")
	if wanted == 0 || err != nil {
		return nil
	}
	var list []Holder
	for line := range strings.Lines(string(table)) {
		pid, file, _, _, ok := lockLine(line)
		if ok && file == wanted && pid != os.Getpid() && hasOpen(pid, path) {
			list = append(list, Holder{PID: pid, Name: programName(pid), Doing: "upgrading or copying it"})
		}
	}
	return list
}

func inode(path string) uint64 {
	var stat syscall.Stat_t
	if syscall.Stat(path, &stat) != nil {
		return 0
	}
	return stat.Ino
}

// lockLine reads a line like
// "3: POSIX  ADVISORY  READ 1234 08:01:5678 1073741826 1073742335". The lines
// of processes that only wait begin with an arrow after the number.
func lockLine(line string) (pid int, file uint64, first, last int64, ok bool) {
	f := strings.Fields(line)
	if len(f) != 8 || f[1] == "->" {
		return 0, 0, 0, 0, false
	}
	pid, err := strconv.Atoi(f[4])
	if err != nil || pid < 1 {
		return 0, 0, 0, 0, false
	}
	place := strings.Split(f[5], ":")
	file, err = strconv.ParseUint(place[len(place)-1], 10, 64)
	if err != nil {
		return 0, 0, 0, 0, false
	}
	first, err = strconv.ParseInt(f[6], 10, 64)
	if err != nil {
		return 0, 0, 0, 0, false
	}
	last, err = strconv.ParseInt(f[7], 10, 64)
	return pid, file, first, last, err == nil || f[7] == "EOF"
}

// hasOpen tells the file from one of another disk with the same inode
// number. Only the owner of a process may look.
func hasOpen(pid int, path string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	want, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if got, err := os.Stat(dir + entry.Name()); err == nil && os.SameFile(want, got) {
			return true
		}
	}
	return false
}

func programName(pid int) string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
