package main

// tree declares every command of the program. To add one, write its
// constructor in a file of its own and name it here.
func tree(a *app) *command {
	root := &command{
		name:     "ocr",
		synopsis: "keep the state of AI code reviews in one SQLite file",
		long: `ocr records the phases, rounds and processes of code reviews and change maps
that agents run. It refuses to record as finished what is not.`,
		example: "ocr init\nocr help exit-codes",
		exits:   []int{exitOK, exitUsage},
	}
	root.verbs = []*command{
		initCommand(a),
		stateGroup(
			beginCommand(a), advanceCommand(a), completeRoundCommand(a), completeMapCommand(a), finishCommand(a),
			statusCommand(a), showCommand(a), listCommand(a), eventsCommand(a),
		),
		versionCommand(a),
		helpCommand(a, root),
	}
	addVersionFlag(a, root)
	root.settle(a, "")
	return root
}

// stateGroup holds the verbs that move a session.
func stateGroup(verbs ...*command) *command {
	return &command{
		name:     "state",
		synopsis: "begin, advance, complete and inspect sessions",
		example:  "ocr state --help",
		exits:    []int{exitUsage},
		verbs:    verbs,
		retired: map[string]string{
			"init":           "begin",
			"transition":     "advance",
			"round-complete": "complete-round",
			"map-complete":   "complete-map",
			"close":          "finish",
		},
	}
}

// settle gives the command its full path and the flags that all commands take,
// and does the same for its verbs.
func (c *command) settle(a *app, above string) {
	c.path = above + c.name
	if c.flags == nil {
		c.flags = newFlags()
	}
	c.flags.StringVar(&a.chdir, "C", a.chdir, "start from `DIR` instead of the working directory")
	c.flags.BoolVar(&a.json, "json", a.json, "print one JSON value")
	for _, verb := range c.verbs {
		verb.settle(a, c.path+" ")
	}
}
