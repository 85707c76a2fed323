package process

import (
	"fmt"
	"time"

	"ocr/db/gen"
)

// The states of a recorded process that has not ended.
const (
	// Living: its id is in use, and nothing says that by another process.
	Living = "alive"
	// Dead: there is proof.
	Dead = "dead"
	// Unknown: nothing can be proved from here.
	Unknown = "unknown"
)

// Verdict is what the facts say about one recorded process.
type Verdict struct {
	// State is Living, Dead or Unknown.
	State string
	// Reason says why, in a few words for people; empty for Living.
	Reason string
}

// stampSlack covers that stamps in the journal are cut to whole seconds, and
// that the start of a process is computed from a clock.
const stampSlack = 2 * time.Second

// Judge looks at the process of a row that has not ended.
//
// A row that was recorded here is judged by the process that has its id now:
// none is proof of death, and so is one that is provably another. That is one
// with another start than recorded, by the mark that the system keeps for
// good. Where no start was recorded, as by other programs, it is one that
// started later than the last sign of life in the row by more than the
// threshold: writers may record a process before they start it.
//
// A row that was recorded before the host was started again is proof as well,
// outside of containers. Of rows from another host or another container
// nothing can be said.
func Judge(facts Facts, row gen.AgentJournal, threshold time.Duration) Verdict {
	if row.PID == nil {
		return Verdict{Unknown, "no process id is recorded"}
	}
	pid := *row.PID
	if pid < 1 {
		return Verdict{Unknown, fmt.Sprintf("%d is no process id", pid)}
	}
	// What is recorded belongs to the process that had the id then. Who wrote
	// another id into the row did not say where.
	recorded := row.RecordedPID != nil && *row.RecordedPID == pid
	switch relate(recordedPlace(row), facts.Here()) {
	case elsewhere:
		return Verdict{Unknown, "it was recorded in another place: " + describe(row)}
	case restarted:
		if !recorded {
			return Verdict{Unknown, "it was recorded before the host was started again"}
		}
		return Verdict{Dead, "the host was started again since"}
	}
	seen := facts.Look(pid)
	if seen.Gone {
		return Verdict{Dead, fmt.Sprintf("there is no process %d", pid)}
	}
	if another(row, recorded, seen.Start, threshold) {
		return Verdict{Dead, fmt.Sprintf("%d is another process by now", pid)}
	}
	return Verdict{State: Living}
}

// another reports whether the process with this start is provably not the
// recorded one.
func another(row gen.AgentJournal, recorded bool, start Start, threshold time.Duration) bool {
	switch {
	case recorded && row.PIDStartedTicks != nil:
		return start.Ticks != 0 && start.Ticks != *row.PIDStartedTicks
	case recorded && row.PIDStartedMs != nil:
		return start.Ticks == 0 && start.Ms != 0 && start.Ms != *row.PIDStartedMs
	case row.LastSignEpoch == nil, start.Ms == 0:
		return false
	}
	latest := time.Unix(*row.LastSignEpoch, 0).Add(threshold + stampSlack)
	return time.UnixMilli(start.Ms).After(latest)
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

func recordedPlace(row gen.AgentJournal) Place {
	return Place{Host: text(row.Host), BootID: text(row.BootID), PIDSpace: text(row.PIDSpace)}
}

func describe(row gen.AgentJournal) string {
	if row.Host == nil {
		return "a host without a name"
	}
	if row.PIDSpace == nil {
		return "host " + *row.Host
	}
	return "host " + *row.Host + ", " + *row.PIDSpace
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
