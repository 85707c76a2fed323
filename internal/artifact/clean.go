package artifact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the number of code points of a free text that are stored.
const maxText = 4096

// marker opens the lines that ocr prints itself. A stored text must not be
// able to pass for one of them.
const marker = "[ocr]"

// clean makes a free text safe to store and to print later: control characters
// and bidirectional overrides go, then one leading marker with the white space
// around it, then everything after maxText code points.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if harmful(r) {
			return -1
		}
		return r
	}, s)
	start := strings.TrimLeftFunc(s, isSpace)
	if len(start) >= len(marker) && strings.EqualFold(start[:len(marker)], marker) {
		s = strings.TrimLeftFunc(start[len(marker):], isSpace)
	}
	return firstRunes(s, maxText)
}

// settled is what is left of a text however often it is cleaned: each time
// takes one more marker. A rule that holds for it holds also when the stored
// text is read again.
func settled(s string) string {
	for {
		cleaned := clean(s)
		if cleaned == s {
			return s
		}
		s = cleaned
	}
}

// harmful tells the characters that clean removes: C0 but tab and newline, DEL,
// C1, and the characters that embed, override or isolate a writing direction.
func harmful(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case r < 0x20, 0x7f <= r && r <= 0x9f:
		return true
	case 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}

// isSpace adds the byte order mark to the white space of Unicode, since the
// other writer of these files takes it for white space too.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == 0xfeff }

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// firstRunes is the first n code points of s.
func firstRunes(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
