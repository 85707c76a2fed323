package process

import (
	"fmt"
	"time"

	"ocr/db/gen"
)

// The states of a recorded process that has not ended.
const (
	// Living: proved alive; or nothing is proved and its heartbeat is young.
	Living = "alive"
	// Dead: there is proof.
	Dead = "dead"
	// Unknown: nothing is proved, and no young heartbeat speaks for it.
	Unknown = "unknown"
)

// Verdict is the one answer to whether a recorded process lives. Every part of
// the program that asks goes by it.
type Verdict struct {
	// State is Living, Dead or Unknown.
	State string
	// Proved: the state follows from a look at the process itself, not from
	// its heartbeat.
	Proved bool
	// Stalled: its last heartbeat is older than the threshold. That says
	// nothing about death.
	Stalled bool
	// HeartbeatAge is in seconds; nil where there is no heartbeat, or where it
	// is not a valid timestamp. A heartbeat less than MaxAhead in the future
	// has the age 0, one further ahead a negative age.
	HeartbeatAge *int64
	// Reason says why, in a few words for people; empty where the process is
	// proved alive.
	Reason string
}

// MaxAhead is how far in the future a heartbeat may be and still count as now:
// clocks of two writers differ. One further ahead is no sign of life.
const MaxAhead = 5 * time.Minute

// stampSlack covers that stamps in the journal are cut to whole seconds, and
// that the start of a process is computed from a clock.
const stampSlack = 2 * time.Second

// Judge says whether the process of a row that has not ended lives, by the
// clock of now.
//
// Where the row's process was seen when it was recorded (its start is stored),
// proof needs no age: no such process, one with another start, or a restart of
// the host since. Where it was not, as with rows of other programs, the
// heartbeat must be older than the threshold as well, because a writer may
// record a process before it starts it; and another process is one that started
// later than the last sign of life in the row by more than the threshold.
//
// Process ids are compared only within one counting of them, and starts only on
// one machine and within one time namespace. Of rows from elsewhere nothing can
// be proved. What cannot be proved is decided by the heartbeat alone.
func Judge(facts Facts, row gen.AgentJournal, threshold time.Duration, now time.Time) Verdict {
	beat := readHeartbeat(row, threshold, now)
	v := prove(facts, row, threshold, now)
	if v.State == Dead && !seen(row) && !beat.old {
		v = Verdict{State: Unknown, Reason: v.Reason + ", which proves nothing: " + beat.why}
	}
	if v.State == Unknown && beat.young {
		v.State = Living
	}
	v.Stalled, v.HeartbeatAge = beat.old, beat.age
	return v
}

// heartbeat is what the last sign of life in a row says by itself.
type heartbeat struct {
	young, old bool
	age        *int64
	// why says why it is not old.
	why string
}

func readHeartbeat(row gen.AgentJournal, threshold time.Duration, now time.Time) heartbeat {
	switch {
	case row.LastHeartbeatAt == nil:
		return heartbeat{why: "the row keeps no heartbeat"}
	case row.HeartbeatEpoch == nil:
		return heartbeat{why: "its heartbeat is not a valid timestamp"}
	}
	age := now.Unix() - *row.HeartbeatEpoch
	switch {
	case age < -int64(MaxAhead/time.Second):
		return heartbeat{age: &age, why: "its heartbeat is in the future"}
	case age > int64(threshold/time.Second):
		return heartbeat{age: &age, old: true}
	}
	age = max(age, 0)
	return heartbeat{age: &age, young: true, why: "its heartbeat is young"}
}

// prove looks at the process itself.
func prove(facts Facts, row gen.AgentJournal, threshold time.Duration, now time.Time) Verdict {
	if row.PID == nil {
		return Verdict{State: Unknown, Reason: "no process id is recorded"}
	}
	pid := *row.PID
	if pid < 1 {
		return Verdict{State: Unknown, Reason: fmt.Sprintf("%d is not a process id", pid)}
	}
	then, here := recordedPlace(row), facts.Here()
	switch relate(then, here) {
	case elsewhere:
		return Verdict{State: Unknown, Reason: "it was recorded in another place: " + describe(row)}
	case restarted:
		if !recorded(row) {
			return Verdict{State: Unknown, Reason: "it was recorded before the host was started again"}
		}
		return Verdict{State: Dead, Proved: true, Reason: "the host was started again since"}
	}
	found := facts.Look(pid)
	if found.Gone {
		return Verdict{State: Dead, Proved: true, Reason: fmt.Sprintf("there is no process %d", pid)}
	}
	if seen(row) && !startsComparable(then, here) {
		return Verdict{State: Unknown, Reason: fmt.Sprintf("there is a process %d, but starts of processes cannot be compared with %s", pid, describe(row))}
	}
	if !seen(row) && row.LastSignEpoch != nil && time.Unix(*row.LastSignEpoch, 0).After(now.Add(MaxAhead)) {
		return Verdict{State: Unknown, Reason: fmt.Sprintf("there is a process %d, but the times in the row are in the future", pid)}
	}
	switch compare(row, found.Start, threshold) {
	case different:
		return Verdict{State: Dead, Proved: true, Reason: fmt.Sprintf("%d is another process by now", pid)}
	case identical:
		return Verdict{State: Living, Proved: true}
	}
	// An id in use speaks for the process as long as nothing speaks against it.
	return Verdict{State: Living, Reason: fmt.Sprintf("there is a process %d; whether it is this one cannot be told", pid)}
}

// recorded: what is stored of the place and the start belongs to the process
// that the row names. Who wrote another id into the row did not say where.
func recorded(row gen.AgentJournal) bool {
	return row.PID != nil && row.RecordedPID != nil && *row.RecordedPID == *row.PID
}

// seen: the process was there when it was recorded, and its start is stored.
func seen(row gen.AgentJournal) bool {
	return recorded(row) && (row.PIDStartedTicks != nil || row.PIDStartedMs != nil)
}

// likeness is how a process stands to the recorded one.
type likeness int

const (
	cannotTell likeness = iota
	identical
	different
)

// compare tells by its start whether a process is the recorded one. The exact
// mark of the system decides; where none was stored, a process that started
// well after the last sign of life in the row is another one.
func compare(row gen.AgentJournal, start Start, threshold time.Duration) likeness {
	alike := func(same bool) likeness {
		if same {
			return identical
		}
		return different
	}
	switch {
	case recorded(row) && row.PIDStartedTicks != nil:
		if start.Ticks == 0 {
			return cannotTell
		}
		return alike(start.Ticks == *row.PIDStartedTicks)
	case recorded(row) && row.PIDStartedMs != nil:
		if start.Ms == 0 || start.Ticks != 0 {
			return cannotTell
		}
		return alike(start.Ms == *row.PIDStartedMs)
	case row.LastSignEpoch == nil, start.Ms == 0:
		return cannotTell
	}
	latest := time.Unix(*row.LastSignEpoch, 0).Add(threshold + stampSlack)
	return alike(!time.UnixMilli(start.Ms).After(latest))
}

// Same reports whether the process with this id is provably the one that the
// row was recorded for.
func Same(facts Facts, row gen.AgentJournal, pid int64) bool {
	if !seen(row) || *row.PID != pid {
		return false
	}
	then, here := recordedPlace(row), facts.Here()
	if relate(then, here) != same || !startsComparable(then, here) {
		return false
	}
	found := facts.Look(pid)
	return !found.Gone && compare(row, found.Start, 0) == identical
}

// relation is how a recorded place stands to the present one.
type relation int

const (
	same relation = iota
	restarted
	elsewhere
)

// relate compares places. One kernel and one counting is the same place, also
// when the host was given another name. A row without a place was written by
// another program, and counts as from here.
func relate(then, now Place) relation {
	switch {
	case then == Place{}:
		return same
	case then.Machine != "" && now.Machine != "" && then.Machine != now.Machine:
		return elsewhere
	case then.BootID != "" && then.BootID == now.BootID:
		if then.PIDSpace == now.PIDSpace {
			return same
		}
		return elsewhere
	case then.Host == "" || then.Host != now.Host || then.PIDSpace != now.PIDSpace:
		return elsewhere
	case then.BootID == "" || now.BootID == "":
		return same
	case then.PIDSpace == initialPIDSpace:
		return restarted
	}
	// Two containers of one name may run on two hosts.
	return elsewhere
}

// startsComparable tells whether starts of processes mean the same in both
// places: each time namespace counts them from a moment of its own. A row
// without a place counts as from here.
func startsComparable(then, now Place) bool {
	switch {
	case then == Place{}:
		return true
	case then.TimeSpace != now.TimeSpace:
		return false
	}
	if then.Machine != "" && now.Machine != "" {
		return then.Machine == now.Machine
	}
	return then.Host == now.Host
}

func recordedPlace(row gen.AgentJournal) Place {
	return Place{
		Machine: text(row.Machine), Host: text(row.Host), BootID: text(row.BootID),
		PIDSpace: text(row.PIDSpace), TimeSpace: text(row.TimeSpace),
	}
}

func describe(row gen.AgentJournal) string {
	if row.Host == nil {
		return "a host without a name"
	}
	place := "host " + *row.Host
	for _, space := range []*string{row.PIDSpace, row.TimeSpace} {
		if space != nil {
			place += ", " + *space
		}
	}
	return place
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
