package artifact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	cases := map[string]struct{ given, want string }{
		"C0":               {"a\x00\x07\x1b[31mb\r\x1f", "a[31mb"},
		"TabAndNewline":    {"\ta\n\tb\n", "\ta\n\tb\n"},
		"DELAndC1":         {"a\x7f\u0080\u0085\u009fb", "ab"},
		"Bidi":             {"a\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069b", "ab"},
		"DirectionMarks":   {"\u200f\u0639\u200e", "\u200f\u0639\u200e"},
		"OtherScripts":     {"Größe 漢字 العربية 🎉", "Größe 漢字 العربية 🎉"},
		"Marker":           {"[ocr] text", "text"},
		"MarkerAnyCase":    {" \n\u00a0\ufeff[OcR]\t\n text ", "text "},
		"MarkerOnce":       {"[ocr] [ocr] text", "[ocr] text"},
		"MarkerInside":     {"see [ocr] text", "see [ocr] text"},
		"MarkerAlone":      {" [ocr] ", ""},
		"MarkerUncovered":  {"\x1b[o\u202ecr] text", "text"},
		"NothingTrimmed":   {"  text  ", "  text  "},
		"CutAfterMarker":   {"[ocr] " + strings.Repeat("t", 5000), strings.Repeat("t", 4096)},
		"CutAfterControls": {strings.Repeat("\x07t", 4097), strings.Repeat("t", 4096)},
		"CutCodePoints":    {strings.Repeat("🎉", 4097), strings.Repeat("🎉", 4096)},
		"Whole":            {strings.Repeat("é", 4096), strings.Repeat("é", 4096)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := clean(c.given); got != c.want {
				t.Errorf("clean(%q) = %q, want %q", c.given, got, c.want)
			}
		})
	}
}

// hostileText mixes what cleaning looks at with what it must leave alone.
func hostileText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"[ocr]", "[OCR]", " ", "\n", "\t", "\x00", "\x1b", "\x7f", "\u0085",
			"\u202e", "\u2066", "\ufeff", "🎉", "é", "a"}),
		rapid.String(),
		rapid.Map(rapid.IntRange(4000, 4200), func(n int) string { return strings.Repeat("漢", n) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 12), func(p []string) string {
		return strings.ToValidUTF8(strings.Join(p, ""), "")
	})
}

func TestCleanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := hostileText().Draw(t, "text")
		got := clean(given)
		if n := utf8.RuneCountInString(got); n > maxText {
			t.Fatalf("%d code points stay", n)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		if i := strings.IndexFunc(got, harmful); i >= 0 {
			t.Fatalf("%q stays at %d", got[i:], i)
		}
		if !subsequence(got, given) {
			t.Fatalf("clean(%q) = %q has other characters or another order", given, got)
		}
		again := clean(got)
		start := strings.TrimLeftFunc(got, isSpace)
		marked := len(start) >= len(marker) && strings.EqualFold(start[:len(marker)], marker)
		if again != got && !marked {
			t.Fatalf("clean(%q) = %q", got, again)
		}
	})
}

func subsequence(part, whole string) bool {
	for _, r := range part {
		i := strings.IndexRune(whole, r)
		if i < 0 {
			return false
		}
		whole = whole[i+utf8.RuneLen(r):]
	}
	return true
}
