package main

import (
	"flag"
	"fmt"
	"strings"
)

// usageError is a command line that cannot be understood.
type usageError struct {
	message string
	hint    string
	usage   string // the help to show with the message, or ""
}

func (e *usageError) Error() string { return e.message }

// usageError makes the error of a command line for c. Its hint is c's help.
func (c *command) usageError(format string, values ...any) error {
	return &usageError{
		message: fmt.Sprintf(format, values...),
		hint:    c.path + " --help",
	}
}

func (c *command) needsVerb() error {
	return &usageError{
		message: c.path + " needs a command after it",
		hint:    c.path + " --help",
		usage:   c.help(),
	}
}

// unknownVerb refuses a word that names no verb of the group c: with the new
// name where it is a retired one, else with the nearest name.
func (c *command) unknownVerb(word string) error {
	if verb, ok := c.retired[word]; ok {
		return &usageError{
			message: fmt.Sprintf("%s %s is retired: its place was taken by %s %s", c.path, word, c.path, verb),
			hint:    fmt.Sprintf("%s %s --help", c.path, verb),
		}
	}
	err := &usageError{
		message: fmt.Sprintf("%s has no command %q", c.path, word),
		hint:    fmt.Sprintf("%s --help", c.path),
	}
	var names []string
	for _, verb := range c.verbs {
		names = append(names, verb.name)
	}
	if len(names) > 0 {
		err.message += "; its commands are " + strings.Join(names, ", ")
	}
	if best := nearest(word, names); best != "" {
		err.hint = fmt.Sprintf("did you mean %s %s?", c.path, best)
		return err
	}
	for _, group := range c.verbs {
		for _, verb := range group.verbs {
			if verb.name == word {
				err.hint = fmt.Sprintf("did you mean %s?", verb.path)
				return err
			}
		}
	}
	return err
}

// unknownFlag refuses a flag that c does not take, with the nearest one.
func (c *command) unknownFlag(token, name string) error {
	err := &usageError{
		message: fmt.Sprintf("%s has no flag %s", c.path, strings.SplitN(token, "=", 2)[0]),
		hint:    c.path + " --help",
	}
	var names []string
	c.flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	switch best := nearest(name, names); {
	case best != "":
		err.hint = fmt.Sprintf("did you mean %s?", dashed(best))
	case len(c.verbs) > 0:
		err.hint = "flags of a command follow its name; " + err.hint
	}
	return err
}

// nearest returns the name that a person who typed word most likely meant, or
// "" when none is near: the one it abbreviates or lengthens, else the one with
// the fewest single letters changed, up to a third of the word.
func nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, fewest := "", max(len(word)/3, 1)+1
	for _, name := range names {
		changes := distance(word, name)
		if len(word) > 2 && len(name) > 2 && (strings.HasPrefix(name, word) || strings.HasPrefix(word, name)) {
			changes = min(changes, 1)
		}
		if len(name) > 1 && changes < fewest {
			best, fewest = name, changes
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
