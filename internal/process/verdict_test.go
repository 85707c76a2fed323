package process

import (
	"testing"
	"time"

	"ocr/db/gen"
)

// fake is a machine with one process.
type fake struct {
	place Place
	seen  Sighting
}

func (f fake) Here() Place         { return f.place }
func (f fake) Look(int64) Sighting { return f.seen }

func p[T any](value T) *T { return &value }

const (
	threshold = 60 * time.Second
	stamp     = int64(1_800_000_000) // of the row, in seconds
)

// at is a start so many milliseconds after the stamp.
func at(ms int64) Start { return Start{Ms: stamp*1000 + ms} }

func TestJudge(t *testing.T) {
	// now is a day after the stamp: heartbeats are old unless a case moves them.
	const now = stamp + 86400
	linux := Place{Host: "box", BootID: "b1", PIDSpace: initialPIDSpace}
	container := Place{Host: "box", BootID: "b1", PIDSpace: "pid:[4026532201]"}
	mac := Place{Host: "box", BootID: "b1"}
	windows := Place{Host: "box"}
	// foreign was written by another program, with a heartbeat at the stamp; one
	// without a sign has a heartbeat that is not a valid timestamp.
	foreign := func(pid *int64, sign *int64) gen.AgentJournal {
		return gen.AgentJournal{PID: pid, LastSignEpoch: sign, HeartbeatEpoch: sign, LastHeartbeatAt: p("stored")}
	}
	// row was recorded with the process 70 at a place, by start-instance.
	row := func(place Place, start Start) gen.AgentJournal {
		r := foreign(p(int64(70)), p(stamp))
		r.RecordedPID = p(int64(70))
		for text, column := range map[*string]**string{
			&place.Machine: &r.Machine, &place.Host: &r.Host, &place.BootID: &r.BootID,
			&place.PIDSpace: &r.PIDSpace, &place.TimeSpace: &r.TimeSpace,
		} {
			if *text != "" {
				*column = text
			}
		}
		if start.Ms != 0 {
			r.PIDStartedMs = &start.Ms
		}
		if start.Ticks != 0 {
			r.PIDStartedTicks = &start.Ticks
		}
		return r
	}
	otherPID := func(r gen.AgentJournal) gen.AgentJournal {
		r.PID = p(int64(1))
		return r
	}
	beat := func(r gen.AgentJournal, seconds int64) gen.AgentJournal {
		r.HeartbeatEpoch, r.LastSignEpoch = p(stamp+seconds), p(stamp+seconds)
		return r
	}
	rename := func(place Place, host string) Place { place.Host = host; return place }
	machine := func(place Place, id string) Place { place.Machine = id; return place }
	clocked := func(place Place, id string) Place { place.TimeSpace = id; return place }
	reboot := func(place Place) Place { place.BootID = "b2"; return place }
	seen := func(start Start) Sighting { return Sighting{Start: start} }
	gone := Sighting{Gone: true}

	cases := []struct {
		name string
		row  gen.AgentJournal
		here Place
		seen Sighting
		want string
	}{
		{"Gone", row(linux, Start{Ms: 1, Ticks: 500}), linux, gone, Dead},
		{"SameTicks", row(linux, Start{Ms: 1, Ticks: 500}), linux, seen(Start{Ms: 1, Ticks: 500}), Living},
		// Somebody set the clock: the process is the same one.
		{"ClockWasSet", row(linux, Start{Ms: 1000, Ticks: 500}), linux, seen(Start{Ms: 7_200_000, Ticks: 500}), Living},
		{"OtherTicks", row(linux, Start{Ms: 1, Ticks: 500}), linux, seen(Start{Ms: 1, Ticks: 501}), Dead},
		{"StartHiddenNow", row(linux, Start{Ms: 1, Ticks: 500}), linux, seen(Start{}), Living},
		{"MacSameStart", row(mac, at(5)), mac, seen(at(5)), Living},
		{"MacOtherStart", row(mac, at(5)), mac, seen(at(6)), Dead},
		{"WindowsOtherStart", row(windows, at(5)), windows, seen(at(6)), Dead},
		{"WindowsAfterRestart", row(windows, at(5)), windows, gone, Dead},
		// Nothing was recorded of the start: the time rule holds.
		{"NoStartWithinThreshold", row(linux, Start{}), linux, seen(at(60_000)), Living},
		{"NoStartLongAfter", row(linux, Start{}), linux, seen(at(63_000)), Dead},

		{"RenamedHost", row(linux, Start{Ms: 1, Ticks: 500}), rename(linux, "new"), gone, Dead},
		{"Restarted", row(linux, Start{Ms: 1, Ticks: 500}), reboot(linux), seen(Start{Ms: 1, Ticks: 500}), Dead},
		{"RestartedAndRenamed", row(linux, Start{Ms: 1, Ticks: 500}), reboot(rename(linux, "new")), gone, Unknown},
		{"OtherHost", row(rename(reboot(linux), "far"), Start{Ms: 1, Ticks: 500}), linux, gone, Unknown},
		{"OtherWindowsHost", row(rename(windows, "far"), at(5)), windows, gone, Unknown},
		{"FromContainer", row(container, Start{Ms: 1, Ticks: 500}), linux, gone, Unknown},
		{"InContainer", row(linux, Start{Ms: 1, Ticks: 500}), container, gone, Unknown},
		{"SameContainer", row(container, Start{Ms: 1, Ticks: 500}), container, gone, Dead},
		// Two hosts may run containers of one name.
		{"ContainerOfOtherBoot", row(container, Start{Ms: 1, Ticks: 500}), reboot(container), gone, Unknown},

		{"ForeignGone", foreign(p(int64(70)), p(stamp)), linux, gone, Dead},
		{"ForeignLiving", foreign(p(int64(70)), p(stamp)), linux, seen(at(-5000)), Living},
		// A row may be written before its process starts.
		{"ForeignStartedAfterRow", foreign(p(int64(70)), p(stamp)), linux, seen(at(2000)), Living},
		{"ForeignOnTheThreshold", foreign(p(int64(70)), p(stamp)), linux, seen(at(62_000)), Living},
		{"ForeignReused", foreign(p(int64(70)), p(stamp)), linux, seen(at(62_001)), Dead},
		{"ForeignUnreadableTimes", foreign(p(int64(70)), nil), linux, seen(at(1 << 40)), Living},
		{"ForeignNotMine", foreign(p(int64(1)), p(stamp)), linux, seen(Start{}), Living},

		// What was seen when it was recorded needs no age, and no clock.
		{"YoungGone", beat(row(linux, Start{Ms: 1, Ticks: 500}), 86400), linux, gone, Dead},
		{"YoungReused", beat(row(linux, Start{Ms: 1, Ticks: 500}), 86400), linux, seen(Start{Ms: 1, Ticks: 501}), Dead},
		{"YoungRestarted", beat(row(linux, Start{Ms: 1, Ticks: 500}), 86400), reboot(linux), gone, Dead},
		{"FutureGone", beat(row(linux, Start{Ms: 1, Ticks: 500}), 2*86400), linux, gone, Dead},
		{"FutureSame", beat(row(linux, Start{Ms: 1, Ticks: 500}), 2*86400), linux, seen(Start{Ms: 1, Ticks: 500}), Living},
		// What was not seen does: its writer may start it only now.
		{"YoungUnseenGone", beat(row(linux, Start{}), 86400), linux, gone, Living},
		{"YoungForeignGone", beat(foreign(p(int64(70)), p(stamp)), 86400-60), linux, gone, Living},
		{"OldForeignGone", beat(foreign(p(int64(70)), p(stamp)), 86400-61), linux, gone, Dead},
		{"YoungForeignRestarted", beat(row(linux, Start{}), 86400), reboot(linux), gone, Living},
		{"NearFutureForeignGone", beat(foreign(p(int64(70)), p(stamp)), 86400+300), linux, gone, Living},
		{"FarFutureForeignGone", beat(foreign(p(int64(70)), p(stamp)), 86400+301), linux, gone, Unknown},
		{"FarFutureForeignInUse", beat(foreign(p(int64(70)), p(stamp)), 86400+301), linux, seen(at(0)), Unknown},
		{"UnreadableForeignGone", foreign(p(int64(70)), nil), linux, gone, Unknown},
		{"YoungElsewhere", beat(row(rename(reboot(linux), "far"), Start{Ms: 1, Ticks: 500}), 86400), linux, gone, Living},
		{"YoungNoPID", beat(foreign(nil, p(stamp)), 86400), linux, gone, Living},
		// Starts mean the same on one machine and in one time namespace only.
		{"OtherTimeSpaceInUse", row(clocked(linux, "t1"), Start{Ms: 1, Ticks: 500}), clocked(linux, "t2"), seen(Start{Ms: 1, Ticks: 501}), Unknown},
		{"OtherTimeSpaceGone", row(clocked(linux, "t1"), Start{Ms: 1, Ticks: 500}), clocked(linux, "t2"), gone, Dead},
		{"SameTimeSpace", row(clocked(linux, "t1"), Start{Ms: 1, Ticks: 500}), clocked(linux, "t1"), seen(Start{Ms: 1, Ticks: 501}), Dead},
		{"OtherMachine", row(machine(linux, "m1"), Start{Ms: 1, Ticks: 500}), machine(linux, "m2"), gone, Unknown},
		{"RenamedMachineReused", row(machine(linux, "m1"), Start{Ms: 1, Ticks: 500}), rename(machine(linux, "m1"), "new"), seen(Start{Ms: 1, Ticks: 501}), Dead},
		{"RenamedUnknownMachineReused", row(linux, Start{Ms: 1, Ticks: 500}), rename(linux, "new"), seen(Start{Ms: 1, Ticks: 501}), Unknown},

		{"NoPID", foreign(nil, p(stamp)), linux, gone, Unknown},
		{"Group", foreign(p(int64(-1)), p(stamp)), linux, gone, Unknown},
		{"Zero", foreign(p(int64(0)), p(stamp)), linux, gone, Unknown},
		// Somebody wrote another id into the row: the recorded start is not its.
		{"OtherPIDLiving", otherPID(row(linux, Start{Ms: 1, Ticks: 500})), linux, seen(Start{Ms: 1, Ticks: 20}), Living},
		{"OtherPIDRestarted", otherPID(row(linux, Start{Ms: 1, Ticks: 500})), reboot(linux), gone, Unknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(fake{c.here, c.seen}, c.row, threshold, time.Unix(now, 0))
			if got.State != c.want || (got.Reason == "") != (got.Proved && c.want == Living) || got.Proved && c.want == Unknown || !got.Proved && c.want == Dead {
				t.Errorf("got %+v, want %q", got, c.want)
			}
			stalled := c.row.HeartbeatEpoch != nil && now-*c.row.HeartbeatEpoch > 60
			if got.Stalled != stalled || (got.HeartbeatAge == nil) != (c.row.HeartbeatEpoch == nil) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
