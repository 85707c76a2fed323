package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/peterbourgon/ff/v3/ffcli"

	"ocr/internal/project"
)

// app is what every command may reach of the world outside, and the two flags
// that every command takes.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	dir    string // the working directory
	parent int    // the process that called this program; 0 for none
	// runProgram runs another ocr; nil where none may be run.
	runProgram runProgram

	chdir string // -C
	json  bool   // --json
	lease string // --lease, of the verbs on sessions
	as    string // --as, of the verbs on sessions and processes

	told sync.Map // the lines that noteOnce wrote
}

// run is the whole program: it reads the command line, runs one command and
// returns the exit code.
func (a *app) run(ctx context.Context, args []string) (code int) {
	// Left alone, a panic would end with the code of a usage error.
	defer func() {
		if cause := recover(); cause != nil {
			a.paragraph(string(debug.Stack()))
			code = a.fail(fmt.Errorf("this is a fault of ocr itself: %v", cause))
		}
	}()
	root := tree(a)
	line := permute(root, args)
	// From here on errors are reported as the caller asked, even when the rest
	// of the command line cannot be understood.
	a.json = line.json
	switch {
	case line.foreign:
		return a.delegate(args, line.err)
	case line.help && !line.lost:
		return a.finish(a.printHelp(line.leaf))
	case line.err != nil:
		return a.fail(line.err)
	case line.leaf.exec == nil:
		return a.fail(line.leaf.needsVerb())
	}
	program := root.program()
	if err := program.Parse(line.args); err != nil {
		a.json = line.json // a bad value after --json= has cleared it
		return a.fail(valueError(line.leaf, err))
	}
	if given(root.flags, "version") && line.leaf != root {
		return a.fail(root.usageError("--version stands alone, without a command"))
	}
	return a.finish(program.Run(ctx))
}

// finish turns the outcome of a command into the exit code.
func (a *app) finish(err error) int {
	if err == nil {
		return exitOK
	}
	var code told
	if errors.As(err, &code) {
		return int(code)
	}
	return a.fail(err)
}

// project finds the project that the command works on: from -C, else OCR_DIR,
// else the working directory, upward.
func (a *app) project() (project.Project, error) {
	return project.Find(a.startDir())
}

func (a *app) startDir() string {
	start := a.chdir
	if start == "" {
		start = a.getenv("OCR_DIR")
	}
	if filepath.IsAbs(start) {
		return start
	}
	return filepath.Join(a.dir, start)
}

// runtime reads the settings of p and tells the user what is wrong in them.
func (a *app) runtime(p project.Project) project.Runtime {
	settings, warnings := p.Runtime(a.getenv)
	for _, warning := range warnings {
		a.note("warning: %s", warning)
	}
	return settings
}

// valueError is the last thing that can be wrong with a command line that
// permute let pass: a value that its flag does not take.
func valueError(c *command, err error) error {
	text := strings.TrimPrefix(err.Error(), "error parsing commandline arguments: ")
	// Package flag writes one dash before every name, the help writes two.
	text = strings.Replace(text, " for flag -", " for -", 1)
	text = strings.Replace(text, " for -", " for --", 1)
	return c.usageError("%s", text)
}

// program turns the declarations into what ffcli parses and runs. Package flag
// prints nothing itself: all output is ours.
func (c *command) program() *ffcli.Command {
	program := &ffcli.Command{
		Name:      c.name,
		FlagSet:   c.flags,
		UsageFunc: func(*ffcli.Command) string { return "" },
	}
	if c.exec != nil {
		program.Exec = func(ctx context.Context, args []string) error {
			if err := c.checkArgs(args); err != nil {
				return err
			}
			return c.exec(ctx, args)
		}
	}
	for _, verb := range c.verbs {
		program.Subcommands = append(program.Subcommands, verb.program())
	}
	return program
}

// note writes one line for people. It never reaches stdout, and what others
// wrote cannot start a line of its own.
func (a *app) note(format string, values ...any) {
	line := strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(format, values...)), "\n", "; ")
	fmt.Fprintln(a.stderr, oneLine(line))
}

// noteOnce writes a line for people that this command did not write before.
func (a *app) noteOnce(line string) {
	if _, again := a.told.LoadOrStore(line, true); !again {
		a.note("%s", line)
	}
}

// paragraph writes lines of ours for people.
func (a *app) paragraph(text string) {
	fmt.Fprintln(a.stderr, printable(text))
}
