package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A command is one verb, or a group of verbs, as the program declares it. Its
// help, the check of its arguments and its place in the tree all follow from
// the declaration.
type command struct {
	name     string // the word typed
	synopsis string // what it does, one line
	usage    string // what follows the name: "--branch B [--json]", "UID"
	long     string // what else a reader should know, paragraphs
	example  string // lines that work as printed, each one starting with "ocr "
	exits    []int  // the exit codes it returns
	flags    *flag.FlagSet
	minArgs  int // how many positional arguments it takes, 0 to 0 unless said
	maxArgs  int // -1: any number
	exec     func(ctx context.Context, args []string) error

	verbs   []*command        // of a group
	retired map[string]string // verbs of a group that are gone: old name to new

	path string // "ocr state begin", set by tree
}

// newFlags returns an empty set of flags. It prints nothing and never exits.
func newFlags() *flag.FlagSet {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// given reports whether the flag stood on the command line.
func given(fs *flag.FlagSet, name string) bool {
	found := false
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// require refuses a command line on which one of the flags is missing or
// empty, and names all of them.
func (c *command) require(names ...string) error {
	var missing []string
	for _, name := range names {
		if c.flags.Lookup(name).Value.String() == "" {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return c.usageError("%s needs %s", c.path, strings.Join(missing, ", "))
}

// checkArgs holds the positional arguments to their number.
func (c *command) checkArgs(args []string) error {
	switch {
	case len(args) < c.minArgs:
		return c.usageError("%s needs %s", c.path, strings.TrimSpace(c.usage))
	case c.maxArgs >= 0 && len(args) > c.maxArgs:
		return c.usageError("%s does not take the argument %q", c.path, args[c.maxArgs])
	}
	return nil
}

// number is the value of a flag that takes a whole number.
type number struct {
	Value int64
	Given bool
	least int64
}

// wholeNumber declares a flag that takes whole numbers from least up. Where a
// round or a run is meant, least is 1.
func wholeNumber(fs *flag.FlagSet, name string, least int64, usage string) *number {
	n := &number{least: least}
	fs.Var(n, name, usage)
	return n
}

// String implements flag.Value.
func (n *number) String() string {
	if !n.Given {
		return ""
	}
	return strconv.FormatInt(n.Value, 10)
}

// Set implements flag.Value.
func (n *number) Set(text string) error {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < n.least {
		return fmt.Errorf("it takes a whole number, %d or more", n.least)
	}
	n.Value, n.Given = value, true
	return nil
}

// timeFlag declares a flag that takes a length of time; a number without a unit
// counts seconds.
func timeFlag(fs *flag.FlagSet, name string, preset time.Duration, usage string) *time.Duration {
	value := preset
	fs.Func(name, usage, func(text string) error {
		length, err := time.ParseDuration(text)
		if err != nil {
			length, err = time.ParseDuration(text + "s")
		}
		if err != nil || length < 0 {
			return errors.New("it takes a length of time such as 90s or 5m")
		}
		value = length
		return nil
	})
	return &value
}

// choice is the value of a flag that takes one of a few words.
type choice struct {
	Value string
	words []string
}

// oneOf declares a flag that takes exactly one of words; it starts as preset,
// which may be "" for none.
func oneOf(fs *flag.FlagSet, name, preset, usage string, words ...string) *choice {
	c := &choice{Value: preset, words: words}
	fs.Var(c, name, usage)
	return c
}

// String implements flag.Value.
func (c *choice) String() string { return c.Value }

// Set implements flag.Value.
func (c *choice) Set(text string) error {
	for _, word := range c.words {
		if text == word {
			c.Value = text
			return nil
		}
	}
	return fmt.Errorf("it takes one of: %s", strings.Join(c.words, ", "))
}

// isGroup reports whether the next word must name a verb.
func (c *command) isGroup() bool { return len(c.verbs) > 0 || len(c.retired) > 0 }
