package lifecycle

import (
	"slices"
	"strings"

	"ocr/internal/shell"
)

// argv is a command on this session as an argument list, the program's own
// name first. The id stands behind "=", so that one with a leading dash is no
// flag.
func (s session) argv(verb string, more ...string) []string {
	words := []string{"ocr", "state", verb, "--session-id=" + s.ID}
	return slices.Concat(words, more, s.identity, s.trailing)
}

// command writes a command on this session that works as printed in a shell.
func (s session) command(verb string, more ...string) string {
	return commandLine(s.argv(verb, more...))
}

// commandLine writes an argument list so that a shell reads it as it is. Of a
// flag with its value only the value is quoted.
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		name, value, isFlag := strings.Cut(word, "=")
		if isFlag && strings.HasPrefix(name, "-") && value != "" {
			words[i] = name + "=" + shell.Quote(value)
			continue
		}
		words[i] = shell.Quote(word)
	}
	return strings.Join(words, " ")
}

// trailing are the words that a command needs behind it to reach the caller's
// project from where the caller is; none where that needs nothing.
func (c Caller) trailing() []string {
	if c.StartDir == "" {
		return nil
	}
	return []string{"-C", c.StartDir}
}

// identity are the words that a command needs to show what the caller showed
// on its own command line; what stands in the environment stays there.
func (c Caller) identity() []string {
	var words []string
	if c.ExecutionUIDByFlag {
		words = append(words, "--as="+c.ExecutionUID)
	}
	if c.Lease != "" && c.LeaseByFlag {
		words = append(words, "--lease="+c.Lease)
	}
	return words
}

// elsewhere are the trailing words, for commands that are written out.
func (c Caller) elsewhere() string { return behind(c.trailing()) }

func behind(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " " + commandLine(words)
}
