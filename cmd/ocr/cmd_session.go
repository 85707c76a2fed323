package main

import "flag"

// sessionGroup holds the verbs of the processes that work for a session.
func sessionGroup(a *app, verbs ...*command) *command {
	addFlags(a, verbs, asFlag)
	return &command{
		name:     "session",
		synopsis: "record the agent processes of a session and see which of them live",
		example:  "ocr session start-instance --vendor claude --workflow 2026-03-02-cart --persona architect --instance 1 --pid 4242",
		exits:    []int{exitUsage},
		verbs:    verbs,
	}
}

// workflowFlag declares --workflow as the verbs on processes take it.
func workflowFlag(fs *flag.FlagSet, value *string) {
	idFlag(fs, value, "workflow", "`ID` of the session; the caller's own, or the only active one, if left out")
}

// given is the number, or nil when the flag was not on the command line.
func (n *number) given() *int64 {
	if !n.Given {
		return nil
	}
	return &n.Value
}
