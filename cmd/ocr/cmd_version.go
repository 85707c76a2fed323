package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"ocr/db"
)

// version is set by make build. commit may be set in the same way, with
// -ldflags "-X main.commit=abc", where git does not tell.
var version, commit string

// versionResult is what version prints under --json.
type versionResult struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Commit        string `json:"commit"`
	Go            string `json:"go"`
	SQLite        string `json:"sqlite"`
	Schema        int    `json:"schema"`
}

func versionCommand(a *app) *command {
	return &command{
		name:     "version",
		synopsis: "print the version of ocr and of its parts",
		usage:    "[--json]",
		long: `Prints the version and commit of ocr, the versions of Go and SQLite it was built
with, and the newest version of the database schema that it knows.`,
		example: "ocr version --json",
		exits:   []int{exitOK, exitUsage},
		exec:    func(context.Context, []string) error { return a.printVersion() },
	}
}

// addVersionFlag makes "ocr --version" the same as "ocr version".
func addVersionFlag(a *app, root *command) {
	root.flags = newFlags()
	asked := root.flags.Bool("version", false, "the same as the command version")
	root.exec = func(context.Context, []string) error {
		if !*asked {
			return root.needsVerb()
		}
		return a.printVersion()
	}
}

func (a *app) printVersion() error {
	v := buildFacts()
	return a.print(v, func(w io.Writer) {
		fmt.Fprintf(w, "ocr %s\ncommit %s\ngo %s\nsqlite %s\nschema %d\n",
			v.Version, v.Commit, v.Go, v.SQLite, v.Schema)
	})
}

func buildFacts() versionResult {
	v := versionResult{
		SchemaVersion: schemaVersion,
		Version:       version,
		Commit:        commit,
		Go:            runtime.Version(),
		SQLite:        db.SQLiteVersion(),
		Schema:        db.Latest(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && v.Commit == "" {
			v.Commit = setting.Value
		}
	}
	if v.Version == "" {
		v.Version = "(devel)"
	}
	if v.Commit == "" {
		v.Commit = "unknown"
	}
	return v
}
