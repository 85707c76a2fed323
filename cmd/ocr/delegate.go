package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// triedVariable is the environment variable in which one ocr tells the next
// which programs have had this command line already, so that two of them never
// hand it to each other for ever. It is not for people, and no flag reads it.
const triedVariable = "_OCR_DELEGATED"

// maxDelegations bounds a chain in which each program changes the command line.
const maxDelegations = 16

// runProgram runs another program with the command line argv, whose first
// element is its own name, and the environment env, on the standard streams of
// this process. It returns the exit code, unless it replaces this process.
type runProgram func(path string, argv, env []string) (code int, err error)

// delegate runs the command line by the next ocr on PATH: the command is not
// one of ours. unknown is the error when there is none.
func (a *app) delegate(args []string, unknown error) int {
	if a.runProgram == nil || a.delegationOff() {
		return a.fail(unknown)
	}
	tried := triedBefore(a.getenv(triedVariable), args)
	path := a.nextProgram(tried)
	if path == "" || tried.count >= maxDelegations {
		return a.fail(unknown)
	}
	tried.count++
	tried.paths = append(tried.paths, path)
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, triedVariable+"=") })
	env = append(env, triedVariable+"="+tried.String())
	code, err := a.runProgram(path, append([]string{path}, args...), env)
	if err != nil {
		return a.fail(&delegationError{path, err})
	}
	return code
}

// delegationOff reports whether OCR_NO_DELEGATE is set to anything but the
// empty text, 0 or false.
func (a *app) delegationOff() bool {
	text := a.getenv("OCR_NO_DELEGATE")
	off, err := strconv.ParseBool(text)
	return off || err != nil && text != ""
}

// nextProgram is the first executable ocr on PATH that is neither this program
// nor one of those tried; "" when there is none. Elements of PATH that are
// empty or relative are skipped: they would run what stands in the working
// directory.
func (a *app) nextProgram(tried delegation) string {
	known := make([]fs.FileInfo, 0, len(tried.paths)+1)
	self, err := os.Executable()
	if err != nil {
		return "" // nothing would tell this program from another one
	}
	for _, path := range append(tried.paths, self) {
		if info, err := os.Stat(path); err == nil {
			known = append(known, info)
		}
	}
candidates:
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(dir, "ocr"))
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		for _, other := range known {
			if os.SameFile(info, other) {
				continue candidates
			}
		}
		return path
	}
	return ""
}

// delegation is the content of triedVariable.
type delegation struct {
	count   int      // how many programs have handed a command line on
	command string   // which command line paths belong to
	paths   []string // the programs that have had it
}

// triedBefore reads text for the command line args. Of another command line
// only the count matters: whoever was run may well call ocr in its turn.
func triedBefore(text string, args []string) delegation {
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
	d := delegation{command: fmt.Sprintf("%x", sum[:8])}
	count, rest, _ := strings.Cut(text, " ")
	command, paths, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 {
		return d
	}
	d.count = n
	if command == d.command {
		d.paths = filepath.SplitList(paths)
	}
	return d
}

func (d delegation) String() string {
	return fmt.Sprintf("%d %s %s", d.count, d.command, strings.Join(d.paths, string(filepath.ListSeparator)))
}

// delegationError says that the next ocr on PATH could not be run.
type delegationError struct {
	path string
	err  error
}

func (e *delegationError) Error() string {
	return fmt.Sprintf("cannot run %s, the next ocr on PATH: %v", e.path, e.err)
}

func (e *delegationError) Unwrap() error { return e.err }
