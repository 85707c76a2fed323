package lifecycle

import (
	"strings"

	"ocr/internal/shell"
)

// command writes a command on this session that works as printed in a shell.
// The id stands behind "=", so that one with a leading dash is no flag.
func (s session) command(verb string, more ...string) string {
	words := append([]string{"ocr state " + verb, "--session-id=" + shell.Quote(s.ID)}, more...)
	return strings.Join(words, " ") + s.elsewhere
}

// elsewhere is what a command needs behind it to reach the caller's project
// from where the caller is; empty where that needs nothing.
func (c Caller) elsewhere() string {
	if c.StartDir == "" {
		return ""
	}
	return " -C " + shell.Quote(c.StartDir)
}
