package lifecycle

import "strings"

// command writes a command on this session that works as printed in a shell.
// The id stands behind "=", so that one with a leading dash is no flag.
func (s session) command(verb string, more ...string) string {
	words := append([]string{"ocr state " + verb, "--session-id=" + shellWord(s.ID)}, more...)
	return strings.Join(words, " ")
}

// shellWord quotes a word where a shell would not take it as it is.
func shellWord(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_./:@%+,", r) &&
			(r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
