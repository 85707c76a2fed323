package main

import (
	"fmt"
	"os"
	"time"
)

// progressDelay is how long something takes before its progress is shown.
const progressDelay = 500 * time.Millisecond

// progress returns what shows the stages of something long in one line of the
// terminal, each in the place of the one before. The empty line clears it. It
// is nil where stderr is no terminal.
func (a *app) progress() func(line string) {
	write := a.statusLine()
	if write == nil {
		return nil
	}
	var start time.Time
	shown := false
	return func(line string) {
		if start.IsZero() {
			start = time.Now()
		}
		if line == "" && !shown || time.Since(start) < progressDelay {
			return
		}
		shown = line != ""
		write(line)
	}
}

// statusLine returns what shows a line on the terminal in the place of the one
// before; the empty line clears it. It is nil where stderr is no terminal.
func (a *app) statusLine() func(line string) {
	file, ok := a.stderr.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(line string) { fmt.Fprintf(a.stderr, "\r%-78.78s\r", oneLine(line)) }
}
