package process

import "testing"

func TestParseStat(t *testing.T) {
	// The name of a program may hold anything.
	stat := func(name, state, threads, start string) string {
		return "70 (" + name + ") " + state + " 1 70 70 0 -1 0 0 0 0 0 0 0 0 0 20 0 " + threads + " 0 " + start + " 0 0\n"
	}
	cases := map[string]struct {
		text  string
		gone  bool
		ticks int64
	}{
		"Running":         {stat("sleep", "S", "1", "500"), false, 500},
		"HostileName":     {stat("a) Z 1 (b", "R", "1", "501"), false, 501},
		"Zombie":          {stat("sleep", "Z", "1", "500"), true, 0},
		"Ending":          {stat("sleep", "X", "1", "500"), true, 0},
		"MainThreadEnded": {stat("server", "Z", "4", "500"), false, 500},
		"Cut":             {"70 (sleep) S 1", false, 0},
		"Empty":           {"", false, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			seen := parseStat([]byte(c.text))
			if seen.Gone != c.gone || seen.Start.Ticks != c.ticks {
				t.Errorf("got %+v", seen)
			}
		})
	}
}
