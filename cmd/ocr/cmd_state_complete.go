package main

import (
	"context"
	"fmt"
	"io"

	"ocr/internal/artifact"
	"ocr/internal/lifecycle"
)

// completeRoundResult is what complete-round prints under --json; the keys are
// shared with other programs.
type completeRoundResult struct {
	SchemaVersion int    `json:"schema_version"`
	SessionID     string `json:"sessionId"`
	Round         int64  `json:"round"`
	MetaPath      string `json:"metaPath"`
	completionResult
	outlookResult
	warningsResult
}

// completeMapResult is what complete-map prints under --json; the keys are
// shared with other programs.
type completeMapResult struct {
	SchemaVersion int    `json:"schema_version"`
	SessionID     string `json:"sessionId"`
	MapRun        int64  `json:"mapRun"`
	MetaPath      string `json:"metaPath"`
	completionResult
	outlookResult
	warningsResult
}

// warningsResult is what the payload holds and nothing reads.
type warningsResult struct {
	Warnings []artifact.Problem `json:"warnings"`                // the first ones
	More     int                `json:"warnings_more,omitempty"` // the number of the others
}

// warn tells people the remarks on a payload, and returns them for programs.
func (a *app) warn(w artifact.Warnings) warningsResult {
	for _, p := range w.First {
		a.note("warning: %s %s", p.Path, p.Message)
	}
	if w.More > 0 {
		a.note("warning: and %d more like these", w.More)
	}
	return warningsResult{w.First, w.More}
}

// completionResult says what the payload of this call has done.
type completionResult struct {
	// Changed is false where the round or run was complete already.
	Changed bool `json:"changed"`
	// PayloadDiffers: it was complete, and another payload stays on record.
	PayloadDiffers bool `json:"payload_differs"`
	// Kept are rows that are not in this payload, and that people wrote on.
	Kept []keptRow `json:"kept"`
}

// keptRow is a row that stays because people wrote on it.
type keptRow struct {
	Kind string `json:"kind"`
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func completionJSON(done lifecycle.CompleteResult) completionResult {
	return completionResult{done.Changed, done.PayloadDiffers, keptJSON(done.Kept)}
}

func keptJSON(kept []lifecycle.KeptRow) []keptRow {
	rows := make([]keptRow, len(kept))
	for i, row := range kept {
		rows[i] = keptRow(row)
	}
	return rows
}

// completeExits are the exit codes of both verbs.
var completeExits = []int{exitOK, exitEnvironment, exitUsage, exitAmbiguous, exitNotFound, exitInvariant, exitPayload, exitBusy}

func completeRoundCommand(a *app) *command {
	fs := newFlags()
	in := declarePayload(fs)
	round := wholeNumber(fs, "round", 1, "`N` of the round; the current one if left out")
	final := fs.Bool("require-final", false, "refuse unless the round's final.md is there")
	c := &command{
		name:     "complete-round",
		synopsis: "record the result of a review round",
		usage:    "(--stdin | --file FILE | --print-schema) [--session-id ID] [--round N] [--require-final] [--json]",
		long: `Takes the round's payload as JSON: schema_version 1, verdict (APPROVE, REQUEST
CHANGES or NEEDS DISCUSSION) and reviewers with their findings. Writes
round-meta.json, the event and the findings, all or nothing. The session must be
in phase synthesis. A round that is complete stays as it is. "ocr help payload"
explains the payload; --print-schema prints its JSON Schema, in a project or not.`,
		example: "ocr state complete-round --session-id 2026-03-02-cart --file round.json --require-final",
		exits:   completeExits,
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if *in.schema {
			return a.printSchema(c, in, artifact.RoundSchema)
		}
		request, caller, err := a.completion(ctx, c, in)
		if err != nil {
			return err
		}
		request.Number, request.RequireFinal = round.Value, *final
		done, err := lifecycle.CompleteRound(ctx, caller, request)
		if err != nil {
			return err
		}
		return a.print(completeRoundResult{schemaVersion, done.SessionID, done.Number, done.MetaPath, completionJSON(done), outlookJSON(done.Outlook), a.warn(done.Warnings)}, func(w io.Writer) {
			fmt.Fprintf(w, "session %s: round %d is complete, %s\n", oneLine(done.SessionID), done.Number, oneLine(done.MetaPath))
			outlookText(w, done.Outlook)
		})
	}
	return c
}

func completeMapCommand(a *app) *command {
	fs := newFlags()
	in := declarePayload(fs)
	run := wholeNumber(fs, "map-run", 1, "`N` of the run; the current one if left out")
	final := fs.Bool("require-final", false, "refuse unless the run's map.md is there")
	c := &command{
		name:     "complete-map",
		synopsis: "record the result of a map run",
		usage:    "(--stdin | --file FILE | --print-schema) [--session-id ID] [--map-run N] [--require-final] [--json]",
		long: `Takes the run's payload as JSON: schema_version 1 and sections with their files.
Writes map-meta.json, the event and the sections, all or nothing. The session
must be in phase synthesis. A run that is complete stays as it is. "ocr help payload"
explains the payload; --print-schema prints its JSON Schema, in a project or not.`,
		example: "ocr state complete-map --session-id 2026-03-02-cart-map --file map.json",
		exits:   completeExits,
		flags:   fs,
	}
	c.exec = func(ctx context.Context, _ []string) error {
		if *in.schema {
			return a.printSchema(c, in, artifact.MapSchema)
		}
		request, caller, err := a.completion(ctx, c, in)
		if err != nil {
			return err
		}
		request.Number, request.RequireFinal = run.Value, *final
		done, err := lifecycle.CompleteMap(ctx, caller, request)
		if err != nil {
			return err
		}
		return a.print(completeMapResult{schemaVersion, done.SessionID, done.Number, done.MetaPath, completionJSON(done), outlookJSON(done.Outlook), a.warn(done.Warnings)}, func(w io.Writer) {
			fmt.Fprintf(w, "session %s: run %d is complete, %s\n", oneLine(done.SessionID), done.Number, oneLine(done.MetaPath))
			outlookText(w, done.Outlook)
		})
	}
	return c
}
