package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is the unit of times in /proc on every architecture that Go
// runs on.
const ticksPerSecond = 100

// initialPIDSpace is the PID namespace of the host itself: the kernel gives it
// the same number everywhere. All others belong to containers.
const initialPIDSpace = "pid:[4026531836]"

func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func pidSpace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}

func timeSpace() string {
	name, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		return ""
	}
	return name
}

// machine is a digest of the id that systemd keeps: machine-id(5) asks programs
// not to show the id itself.
func machine() string {
	id, err := os.ReadFile("/etc/machine-id")
	if id = bytes.TrimSpace(id); err != nil || len(id) != 32 {
		return ""
	}
	digest := sha256.Sum256(append([]byte("ocr machine "), id...))
	return hex.EncodeToString(digest[:16])
}

// look asks by a signal that does nothing, because /proc may hide what belongs
// to others. What it then finds in /proc is read here and not with a library:
// those give the start by the clock of today only, which makes two processes
// of one as soon as the clock is set.
func look(pid int) Sighting {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return Sighting{Gone: true}
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Sighting{}
	}
	return parseStat(text)
}

// parseStat reads a line of /proc/PID/stat. The name of the program stands in
// parentheses and may hold anything, parentheses too.
func parseStat(text []byte) Sighting {
	const state, parent, threads, start = 0, 1, 17, 19 // counted behind the name
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= start {
		return Sighting{}
	}
	// A main thread that has ended looks like a zombie while others run on.
	if fields[state][0] == 'Z' && string(fields[threads]) == "1" || fields[state][0] == 'X' {
		return Sighting{Gone: true}
	}
	ticks, err := strconv.ParseInt(string(fields[start]), 10, 64)
	if err != nil {
		return Sighting{}
	}
	above, err := strconv.ParseInt(string(fields[parent]), 10, 64)
	if err != nil {
		above = 0
	}
	var sinceBoot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot); err != nil {
		return Sighting{Start: Start{Ticks: ticks}, Parent: above}
	}
	age := time.Duration(sinceBoot.Nano()) - time.Duration(ticks)*(time.Second/ticksPerSecond)
	return Sighting{Start: Start{Ticks: ticks, Ms: time.Now().Add(-age).UnixMilli()}, Parent: above}
}
