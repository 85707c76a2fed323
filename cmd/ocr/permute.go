package main

import (
	"flag"
	"strconv"
	"strings"
)

// commandLine is what permute understood of the arguments.
type commandLine struct {
	leaf *command // the deepest command named
	args []string // for the parser: every flag before every positional argument
	json bool     // --json was given
	help bool     // -h or --help was given
	lost bool     // a word names no command, so leaf is not what was meant
	// foreign: where the command stands is a word that may be one of another
	// program, with at most -C, --json and --help before it.
	foreign bool
	err     error // the first thing that is wrong
}

// permute sorts a command line, because package flag wants all flags before the
// first positional argument and people do not. A flag takes the next token as
// its value unless it is a switch or has one after "=". A token that looks like
// a negative number is no flag. After "--" nothing is.
//
// It goes on after the first error, to learn whether the caller wants JSON.
func permute(root *command, args []string) commandLine {
	w := walk{leaf: root, seen: map[string]bool{}}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			w.positional = append(w.positional, args[i+1:]...)
			break
		}
		name, value, hasValue, isFlag := splitFlag(args[i])
		if !isFlag {
			w.word(args[i])
			continue
		}
		if name == "h" || name == "help" {
			w.help = true
			continue
		}
		f := w.leaf.flags.Lookup(name)
		if f == nil {
			w.fail(w.leaf.unknownFlag(args[i], name))
			continue
		}
		if _, several := f.Value.(*names); w.seen[name] && !several {
			w.fail(w.leaf.usageError("%s was given twice", dashed(name)))
		}
		w.seen[name] = true
		switch {
		case hasValue:
		case isSwitch(f):
			value = "true"
		case i+1 == len(args) || w.startsFlag(args[i+1]):
			w.fail(w.leaf.usageError("%s needs a value", dashed(name)))
		default:
			i++
			value = args[i]
		}
		if name == "C" && value == "" {
			w.fail(w.leaf.usageError("-C needs a directory"))
		}
		if name == "json" {
			// A value that is no truth value is an error, told as JSON.
			wanted, err := strconv.ParseBool(value)
			w.json = wanted || err != nil
		}
		w.flags = append(w.flags, "--"+name+"="+value)
	}
	return w.result()
}

// walk is the state of permute between two tokens.
type walk struct {
	leaf       *command
	words      []string // flags and names of the commands above the leaf
	flags      []string // flags of the leaf
	positional []string
	seen       map[string]bool
	json, help bool
	lost       bool
	foreign    bool
	err        error
}

func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// word takes a token that is no flag: the name of a verb where a group stands,
// else a positional argument.
func (w *walk) word(token string) {
	if !w.leaf.isGroup() || len(w.positional) > 0 {
		w.positional = append(w.positional, token)
		return
	}
	for _, verb := range w.leaf.verbs {
		if verb.name == token {
			w.words = append(append(w.words, w.flags...), token)
			w.flags = nil
			w.leaf = verb
			return
		}
	}
	w.foreign = w.foreign || w.err == nil && len(w.words) == 0 && token != "" && !w.seen["version"]
	w.fail(w.leaf.unknownVerb(token))
	w.lost = true
	w.positional = append(w.positional, token)
}

// startsFlag reports whether a token that stands where a value should is
// rather the next flag: "--session-id --json" lacks the id. A text that looks
// like a flag can be given after "=".
func (w *walk) startsFlag(token string) bool {
	if token == "--" {
		return true
	}
	name, _, _, isFlag := splitFlag(token)
	return isFlag && (name == "h" || name == "help" || w.leaf.flags.Lookup(name) != nil)
}

func (w *walk) result() commandLine {
	args := append(w.words, w.flags...)
	if len(w.positional) > 0 {
		args = append(append(args, "--"), w.positional...)
	}
	if w.err == nil && w.leaf.isGroup() && len(w.positional) > 0 {
		w.err = w.leaf.unknownVerb(w.positional[0])
	}
	return commandLine{leaf: w.leaf, args: args, json: w.json, help: w.help, lost: w.lost, foreign: w.foreign, err: w.err}
}

// splitFlag takes "-name", "--name" and "--name=value" apart. "-", "" and what
// looks like a negative number are no flags.
func splitFlag(token string) (name, value string, hasValue, isFlag bool) {
	name, isFlag = strings.CutPrefix(token, "-")
	if !isFlag || name == "" || ('0' <= name[0] && name[0] <= '9') || name[0] == '.' {
		return "", "", false, false
	}
	name = strings.TrimPrefix(name, "-")
	name, value, hasValue = strings.Cut(name, "=")
	return name, value, hasValue, true
}

func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// dashed writes a flag as people type it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
