package db

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// waitShown is how long a lock is waited for before people are told, and how
// often the line is brought up to date.
const waitShown = time.Second

// show tells people, while they wait for a lock of the database at path, that
// they wait and for whom. ended, which the waiting must call, clears the line.
func (w waits) show(path string, holders func(path string) []Holder) (ended func()) {
	if w.waiting == nil {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(waitShown)
		defer tick.Stop()
		for shown := false; ; shown = true {
			select {
			case <-stop:
				if shown {
					w.waiting("")
				}
				return
			case <-tick.C:
				w.waiting(fmt.Sprintf("waiting for %s%s", filepath.Base(path), heldBy(holders(path))))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// heldBy names the processes that are in the way, as the end of a sentence on
// the file: those that write, else all. It is empty where nobody can be seen.
func heldBy(all []Holder) string {
	var names []string
	for _, h := range all {
		if h.Doing == "writing" {
			names = append(names, h.String())
		}
	}
	if len(names) == 0 {
		for _, h := range all {
			names = append(names, h.String())
		}
	}
	const most = 3
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return ": " + strings.Join(names, ", ")
}

// String is the process as people read it: "node (pid 12) is writing".
func (h Holder) String() string {
	name := h.Name
	if name == "" {
		name = "a process"
	}
	doing := h.Doing
	if doing == "open" {
		doing = "using it"
	}
	return fmt.Sprintf("%s (pid %d) is %s", name, h.PID, doing)
}
