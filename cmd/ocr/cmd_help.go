package main

import (
	"context"
	"slices"
)

// exitCodesTopic is the one page of help that belongs to no command.
const exitCodesTopic = "exit-codes"

func helpCommand(a *app, root *command) *command {
	return &command{
		name:     "help",
		synopsis: "explain a command, or the exit codes",
		usage:    "[COMMAND...] [--json]",
		long:     "Without a command it lists all of them. \"ocr help exit-codes\" explains the exit\ncodes.",
		example:  "ocr help state\nocr help exit-codes",
		exits:    []int{exitOK, exitUsage},
		maxArgs:  -1,
		exec: func(_ context.Context, args []string) error {
			if slices.Equal(args, []string{exitCodesTopic}) {
				return a.printTopic(exitCodesTopic, exitCodes())
			}
			topic := root
			for _, word := range args {
				i := slices.IndexFunc(topic.verbs, func(c *command) bool { return c.name == word })
				if i < 0 {
					return topic.unknownVerb(word)
				}
				topic = topic.verbs[i]
			}
			return a.printHelp(topic)
		},
	}
}

func exitCodes() string {
	all := make([]int, len(exitMeanings))
	for code := range all {
		all[code] = code
	}
	return "Exit codes of every command:\n" + meanings(all) + `
With --json a failed command prints one object on stdout:
  {"schema_version":1,"error":{"code":4,"kind":"...","message":"...","hint":"..."}}
Its code is the exit code. Branch on code and kind; message and hint are for
people. Some kinds add "details".
`
}
