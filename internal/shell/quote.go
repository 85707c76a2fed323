// Package shell writes words for commands that people copy into a POSIX shell.
package shell

import "strings"

// Quote writes a word so that a shell reads it as it is: in quotes where it
// has to be.
func Quote(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func plain(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("-_./:@%+,", r)
}
