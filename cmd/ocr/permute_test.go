package main

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sampleTree is a small tree with every kind of flag.
func sampleTree() *command {
	leaf := &command{name: "verb", flags: newFlags(), maxArgs: -1}
	leaf.flags.String("text", "", "`TEXT` to keep")
	leaf.flags.Bool("dry-run", false, "change nothing")
	wholeNumber(leaf.flags, "round", 1, "round `N`")
	group := &command{name: "group", verbs: []*command{leaf}, retired: map[string]string{"old": "verb"}}
	root := &command{name: "ocr", verbs: []*command{group}}
	root.settle(&app{}, "")
	return root
}

func TestPermute(t *testing.T) {
	cases := map[string]struct {
		in   string
		want string // what the parser gets
		fail string // part of the error
	}{
		"FlagsFirst":       {"group verb --text x a b", "group verb --text=x -- a b", ""},
		"FlagsLast":        {"group verb a b --text x", "group verb --text=x -- a b", ""},
		"FlagsBetween":     {"group verb a --text=x b", "group verb --text=x -- a b", ""},
		"OneDash":          {"group verb -text x", "group verb --text=x", ""},
		"EqualsInValue":    {"group verb --text=a=b", "group verb --text=a=b", ""},
		"SwitchTakesNone":  {"group verb --dry-run a", "group verb --dry-run=true -- a", ""},
		"NegativeValue":    {"group verb --round -3", "group verb --round=-3", ""},
		"NegativeArgument": {"group verb -3", "group verb -- -3", ""},
		"LoneDash":         {"group verb -", "group verb -- -", ""},
		"AfterDashes":      {"group verb -- --text x", "group verb -- --text x", ""},
		"GlobalsAnywhere":  {"-C d group --json verb", "-C=d group --json=true verb", ""},
		"VerbNameAsArg":    {"group verb verb", "group verb -- verb", ""},
		"UnknownLooking":   {"group verb --text --nope", "group verb --text=--nope", ""},
		"NoValueAtEnd":     {"group verb --text", "", "--text needs a value"},
		"NoValueInside":    {"group verb --text --json", "", "--text needs a value"},
		"Twice":            {"group verb --text a --text=b", "", "--text was given twice"},
		"TwiceAcross":      {"--json group verb --json", "", "--json was given twice"},
		"EmptyDirectory":   {"-C= group verb", "", "-C needs a directory"},
		"UnknownFlag":      {"group verb --txt x", "", "no flag --txt"},
		"UnknownVerb":      {"group verv", "", `no command "verv"`},
		"VerbAfterDashes":  {"group -- verb", "", `no command "verb"`},
		"Retired":          {"group old --whatever x", "", "ocr group verb"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			line := permute(sampleTree(), strings.Fields(c.in))
			if c.fail != "" {
				if line.err == nil || !strings.Contains(line.err.Error(), c.fail) {
					t.Fatalf("error %v, want one with %q", line.err, c.fail)
				}
				return
			}
			if line.err != nil {
				t.Fatal(line.err)
			}
			got := strings.Join(line.args, " ")
			if strings.ReplaceAll(got, "--C=", "-C=") != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestPermuteOrder: wherever the flags stand among the arguments, and in either
// spelling, the parser sees the same flags and the same arguments in order.
func TestPermuteOrder(t *testing.T) {
	value := rapid.OneOf(rapid.StringMatching(`[a-z =]{0,6}`), rapid.SampledFrom([]string{"-5", "-", "", "--unknown", "a=b"}))
	argument := rapid.OneOf(rapid.StringMatching(`[a-z =]{0,6}`), rapid.SampledFrom([]string{"-5", "-", ""}))
	rapid.Check(t, func(t *rapid.T) {
		arguments := rapid.SliceOfN(argument, 0, 4).Draw(t, "arguments")
		tail := rapid.SliceOfN(rapid.SampledFrom([]string{"--json", "--", "-h", "x"}), 0, 3).Draw(t, "tail")
		groups := [][]string{}
		for _, a := range arguments {
			groups = append(groups, []string{a})
		}
		var want []string
		insert := func(tokens ...string) {
			groups = slices.Insert(groups, rapid.IntRange(0, len(groups)).Draw(t, "place"), tokens)
		}
		if rapid.Bool().Draw(t, "has text") {
			text := value.Draw(t, "text")
			want = append(want, "--text="+text)
			if rapid.Bool().Draw(t, "with equals") {
				insert("--text=" + text)
			} else {
				insert("--text", text)
			}
		}
		if rapid.Bool().Draw(t, "has switch") {
			want = append(want, "--dry-run=true")
			insert("--dry-run")
		}
		args := append([]string{"group", "verb"}, slices.Concat(groups...)...)
		if len(tail) > 0 {
			args = append(append(args, "--"), tail...)
		}
		line := permute(sampleTree(), args)
		if line.err != nil || line.help || line.json {
			t.Fatalf("%q: %+v", args, line)
		}
		flags, positional := line.args[2:], []string(nil)
		if i := slices.Index(flags, "--"); i >= 0 {
			flags, positional = flags[:i], flags[i+1:]
		}
		flags = slices.Clone(flags)
		slices.Sort(flags)
		slices.Sort(want)
		if !slices.Equal(flags, want) || !slices.Equal(positional, slices.Concat(arguments, tail)) {
			t.Fatalf("%q became %q", args, line.args)
		}
	})
}

func TestNumber(t *testing.T) {
	for _, text := range []string{"1x", "0", "-3", "two", "", " 1", "1.0", "99999999999999999999"} {
		n := wholeNumber(newFlags(), "round", 1, "")
		if err := n.Set(text); err == nil || n.Given {
			t.Errorf("%q was taken as %d", text, n.Value)
		}
	}
	n := wholeNumber(newFlags(), "round", 1, "")
	if err := n.Set("12"); err != nil || n.Value != 12 || !n.Given {
		t.Errorf("12 became %+v, %v", n, err)
	}
}
