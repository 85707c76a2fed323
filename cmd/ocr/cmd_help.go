package main

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// topics are the pages of help that belong to no command.
var topics = map[string]func() string{
	"environment": environment,
	"exit-codes":  exitCodes,
	"json":        jsonTopic,
	"payload":     payloadTopic,
}

func helpCommand(a *app, root *command) *command {
	return &command{
		name:     "help",
		synopsis: "explain a command or a topic",
		usage:    "[COMMAND... | TOPIC] [--json]",
		long:     "Without a command it lists all of them. Topics: " + strings.Join(slices.Sorted(maps.Keys(topics)), ", ") + ".",
		example:  "ocr help state\nocr help exit-codes",
		exits:    []int{exitOK, exitUsage},
		maxArgs:  -1,
		exec: func(_ context.Context, args []string) error {
			if len(args) == 1 && topics[args[0]] != nil {
				return a.printTopic(args[0], topics[args[0]]())
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

// environment names every variable that has an effect.
func environment() string {
	return `Environment variables; a flag beats the variable, the variable beats runtime.* in
.ocr/config.yaml. One that is empty counts as not set.

  OCR_DIR                           start to look for the project here, as -C does
  OCR_DASHBOARD_EXECUTION_UID       the process row of the caller: its session is the
                                    one that is meant, and it does not wait for itself
  OCR_AGENT_HEARTBEAT_SECONDS       how old a heartbeat may be, 1 to 86400; 60
  OCR_FORWARD_RESUME_MAX_ATTEMPTS   how often a round may be taken over, 1 or more; 2
  OCR_FORWARD_RESUME_LEASE_SECONDS  how long a lease lasts, 1 to 2592000; 1800
  OCR_LEASE                         the token that ocr state resume printed, as --lease
  OCR_NO_DELEGATE                   1: a command that is not ours is an error, and not
                                    run by the next ocr on PATH

A value that is out of its bounds is skipped with a warning.
`
}

// jsonTopic tells what programs may rely on.
func jsonTopic() string {
	return `With --json stdout holds exactly one JSON value and nothing else; notices and
warnings go to stderr. Two commands differ: state events --follow prints an
object a line, and so does db export --format ndjson.

Objects that ocr makes have "schema_version":1. Keys keep their order from one
call to the next. New keys may come; a program skips those that it does not know.
Times are UTC: those that are stored read YYYY-MM-DD HH:MM:SS.

A command that fails prints one object, whose code is the exit code:
  {"schema_version":1,"error":{"code":4,"kind":"...","message":"...","hint":"..."}}
Branch on code and kind; message and hint are for people. Some kinds add "details".
Where the result is a report (doctor, db verify, db status --exit-code), the report
is printed also when the exit code is not 0, with the key "error" in it.
`
}
