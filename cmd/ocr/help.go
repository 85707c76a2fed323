package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// helpResult is what help prints under --json.
type helpResult struct {
	SchemaVersion int    `json:"schema_version"`
	Topic         string `json:"topic"`
	Text          string `json:"text"`
}

// printHelp writes the help of c as a result.
func (a *app) printHelp(c *command) error {
	return a.printTopic(c.path, c.help())
}

func (a *app) printTopic(topic, text string) error {
	return a.print(helpResult{schemaVersion, topic, text}, func(w io.Writer) {
		fmt.Fprint(w, text)
	})
}

// help is all there is to know about a command.
func (c *command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n\nUsage:\n  %s\n", c.path, c.synopsis, c.usageLine())
	if c.long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.long))
	}
	if len(c.verbs) > 0 {
		fmt.Fprint(&b, "\nCommands:\n")
		for _, verb := range c.verbs {
			fmt.Fprintf(&b, "  %-16s %s\n", verb.name, verb.synopsis)
		}
	}
	fmt.Fprint(&b, "\nFlags:\n")
	c.flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		if value != "" {
			value = " " + value
		}
		if f.DefValue != "" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(&b, "  %-24s %s\n", dashed(f.Name)+value, usage)
	})
	fmt.Fprintf(&b, "  %-24s %s\n", "-h, --help", "print this help")
	fmt.Fprint(&b, "\nExample:\n")
	for line := range strings.Lines(strings.TrimSpace(c.example)) {
		fmt.Fprintf(&b, "  %s\n", strings.TrimRight(line, "\n"))
	}
	fmt.Fprintf(&b, "\nExit codes:\n%s", meanings(c.exits))
	return b.String()
}

func (c *command) usageLine() string {
	line := c.path
	if len(c.verbs) > 0 {
		line += " <command>"
	}
	if c.usage != "" {
		line += " " + c.usage
	}
	return line
}

// meanings lists exit codes, one a line.
func meanings(codes []int) string {
	var b strings.Builder
	for _, code := range codes {
		fmt.Fprintf(&b, "  %d  %s\n", code, exitMeanings[code])
	}
	return b.String()
}
