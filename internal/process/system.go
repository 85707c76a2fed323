// Package process says what the operating system knows about processes, and
// when that proves that a recorded one is dead. Old age never does.
package process

import (
	"math"
	"os"
	"sync"
)

// Facts are what a verdict is built on.
type Facts interface {
	// Here is the place whose processes Look sees.
	Here() Place
	// Look says what stands behind a process id at this moment.
	Look(pid int64) Sighting
}

// Place is where process ids are counted. Each part is empty when the system
// has none or it could not be read.
type Place struct {
	// Machine tells machines apart whatever they are called. It is made from
	// the machine's own id, which is not meant to be published.
	Machine string
	// Host is the name of the host.
	Host string
	// BootID changes with every start of the host.
	BootID string
	// PIDSpace tells the countings of one host apart: the PID namespace.
	PIDSpace string
	// TimeSpace tells apart from which moment starts of processes are counted:
	// the time namespace.
	TimeSpace string
}

// Sighting is what one look at a process id shows.
type Sighting struct {
	// Gone: there is no such process, or it has ended and only waits for its
	// parent. One that this user may not touch is not gone.
	Gone bool
	// Start is when it started.
	Start Start
	// Parent is the id of the process that it belongs to; 0 where there is
	// none, or where it could not be read.
	Parent int64
}

// Start is the start of a process; zero where it could not be read.
type Start struct {
	// Ms is in milliseconds since 1970. On Linux it is computed from today's
	// clock and moves when somebody sets it; elsewhere it is a mark for good.
	Ms int64
	// Ticks is in hundredths of a second since the start of the host: a mark
	// for good. Linux only.
	Ticks int64
}

// System reads the facts of this machine.
type System struct{}

var here = sync.OnceValue(func() Place {
	place := Place{Machine: machine(), BootID: bootID(), PIDSpace: pidSpace(), TimeSpace: timeSpace()}
	place.Host, _ = os.Hostname()
	return place
})

// Here implements Facts.
func (System) Here() Place { return here() }

// Look implements Facts. Ids below 1 name groups of processes: nothing is
// known about them.
func (System) Look(pid int64) Sighting {
	switch {
	case pid < 1:
		return Sighting{}
	case pid > math.MaxInt32:
		return Sighting{Gone: true}
	}
	return look(int(pid))
}

// Alive reports whether a process of that id exists.
func Alive(pid int64) bool { return pid >= 1 && !System{}.Look(pid).Gone }

// maxAncestors bounds the way upward; a loop can only come from ids that are
// given again meanwhile.
const maxAncestors = 1000

// Ancestors are the ids of a process and of those above it, nearest first. The
// first process of a host is above everything and nobody's agent; that of a
// container may be one.
func Ancestors(facts Facts, pid int64) []int64 {
	first := int64(2)
	if facts.Here().PIDSpace != initialPIDSpace {
		first = 1
	}
	var ids []int64
	for pid >= first && len(ids) < maxAncestors {
		ids = append(ids, pid)
		pid = facts.Look(pid).Parent
	}
	return ids
}
