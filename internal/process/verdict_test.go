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
	linux := Place{Host: "box", BootID: "b1", PIDSpace: initialPIDSpace}
	container := Place{Host: "box", BootID: "b1", PIDSpace: "pid:[4026532201]"}
	mac := Place{Host: "box", BootID: "b1"}
	windows := Place{Host: "box"}
	// row was recorded with the process 70 at a place, by start-instance.
	row := func(place Place, start Start) gen.AgentJournal {
		r := gen.AgentJournal{PID: p(int64(70)), RecordedPID: p(int64(70)), LastSignEpoch: p(stamp)}
		for text, column := range map[*string]**string{&place.Host: &r.Host, &place.BootID: &r.BootID, &place.PIDSpace: &r.PIDSpace} {
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
	foreign := func(pid *int64, sign *int64) gen.AgentJournal {
		return gen.AgentJournal{PID: pid, LastSignEpoch: sign}
	}
	otherPID := func(r gen.AgentJournal) gen.AgentJournal {
		r.PID = p(int64(1))
		return r
	}
	rename := func(place Place, host string) Place { place.Host = host; return place }
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

		{"NoPID", foreign(nil, p(stamp)), linux, gone, Unknown},
		{"Group", foreign(p(int64(-1)), p(stamp)), linux, gone, Unknown},
		{"Zero", foreign(p(int64(0)), p(stamp)), linux, gone, Unknown},
		// Somebody wrote another id into the row: the recorded start is not its.
		{"OtherPIDLiving", otherPID(row(linux, Start{Ms: 1, Ticks: 500})), linux, seen(Start{Ms: 1, Ticks: 20}), Living},
		{"OtherPIDRestarted", otherPID(row(linux, Start{Ms: 1, Ticks: 500})), reboot(linux), gone, Unknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(fake{c.here, c.seen}, c.row, threshold)
			if got.State != c.want || (got.Reason == "") != (c.want == Living) {
				t.Errorf("got %q (%s), want %q", got.State, got.Reason, c.want)
			}
		})
	}
}
