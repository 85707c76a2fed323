package main

import (
	"context"
	"flag"
	"strings"
)

// tree declares every command of the program. To add one, write its
// constructor in a file of its own and name it here.
func tree(a *app) *command {
	root := &command{
		name:     "ocr",
		synopsis: "keep the state of AI code reviews in one SQLite file",
		long: `ocr records the phases, rounds and processes of code reviews and change maps
that agents run. It refuses to record as finished what is not.
Any other command (review, team, update and so on) is run by the next ocr on PATH;
OCR_NO_DELEGATE=1 switches that off.`,
		example: "ocr init\nocr help exit-codes",
		exits:   []int{exitOK, exitUsage},
	}
	root.verbs = []*command{
		initCommand(a),
		stateGroup(a,
			beginCommand(a), advanceCommand(a), completeRoundCommand(a), completeMapCommand(a), finishCommand(a),
			statusCommand(a), showCommand(a), listCommand(a), eventsCommand(a),
			resumeCommand(a), sweepCommand(a), syncCommand(a), reconcileCommand(a),
		),
		sessionGroup(a,
			startInstanceCommand(a), bindVendorIDCommand(a), beatCommand(a), endInstanceCommand(a),
			listProcessesCommand(a), latestVendorCommand(a),
		),
		dbGroup(
			dbQueryCommand(a), dbStatsCommand(a), dbExportCommand(a),
			dbMigrateCommand(a), dbDoctorCommand(a),
			dbVacuumCommand(a), dbCheckpointCommand(a), dbPruneCommand(a),
			dbPruneSnapshotsCommand(a), dbPruneBackupsCommand(a), dbRecoverCommand(a),
			dbStatusCommand(a), dbSchemaCommand(a), dbVerifyCommand(a),
			dbSnapshotCommand(a), dbSnapshotsCommand(a), dbRestoreCommand(a),
		),
		doctorCommand(a),
		versionCommand(a),
		helpCommand(a, root),
	}
	addVersionFlag(a, root)
	root.settle(a, "")
	return root
}

// stateGroup holds the verbs that move a session.
func stateGroup(a *app, verbs ...*command) *command {
	addFlags(a, verbs, asFlag, leaseFlag)
	for _, verb := range verbs {
		verb.takeIDAsArgument()
	}
	return &command{
		name:     "state",
		synopsis: "begin, advance, complete and inspect sessions",
		example:  "ocr state begin --session-id 2026-03-02-cart --branch feat/cart --workflow-type review\nocr state status --session-id 2026-03-02-cart --json",
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

// takeIDAsArgument lets a verb on one session take its id as the one argument
// as well as by --session-id.
func (c *command) takeIDAsArgument() {
	if c.flags.Lookup("session-id") == nil || c.maxArgs != 0 {
		return
	}
	c.maxArgs = 1
	c.usage = strings.Replace(c.usage, "--session-id ID", "--session-id ID | ID", 1)
	c.usage = strings.Replace(c.usage, "--session-id ID | ID --", "(--session-id ID | ID) --", 1)
	exec := c.exec
	c.exec = func(ctx context.Context, args []string) error {
		if len(args) == 1 {
			if given(c.flags, "session-id") {
				return c.usageError("%s takes the id as --session-id or as the argument %q, not both", c.path, args[0])
			}
			if err := c.flags.Set("session-id", args[0]); err != nil {
				return c.usageError("the argument %q is not the id of a session: %v", args[0], err)
			}
		}
		return exec(ctx, nil)
	}
}

// addFlags declares the flags that all verbs of a group take.
func addFlags(a *app, verbs []*command, declare ...func(*app, *flag.FlagSet)) {
	for _, verb := range verbs {
		if verb.flags == nil {
			verb.flags = newFlags()
		}
		for _, flags := range declare {
			flags(a, verb.flags)
		}
	}
}

// dbGroup holds the verbs for people who look at the database itself.
func dbGroup(verbs ...*command) *command {
	return &command{
		name:     "db",
		synopsis: "look into the database, upgrade it and care for it",
		example:  "ocr db query 'SELECT session_id, completeness_state FROM session_completeness'",
		exits:    []int{exitUsage},
		verbs:    verbs,
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
