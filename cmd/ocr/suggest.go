package main

import (
	"flag"
	"fmt"
	"strings"

	"ocr/internal/spelling"
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
	if best := spelling.Nearest(word, names); best != "" {
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
	switch best := spelling.Nearest(name, names); {
	case best != "":
		err.hint = fmt.Sprintf("did you mean %s?", dashed(best))
	case len(c.verbs) > 0:
		err.hint = "flags of a command follow its name; " + err.hint
	}
	return err
}
