package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"ocr/internal/artifact"
	"ocr/internal/shell"
)

// recentCompleted is how many of the newest completed rounds and runs are
// compared with their files, unless the look is Deep.
const recentCompleted = 1000

// record is what the log says of a completed round or run. Other programs
// write the same names.
type record struct {
	Source            string  `json:"source"`
	Verdict           *string `json:"verdict"`
	BlockerCount      *int64  `json:"blocker_count"`
	ShouldFixCount    *int64  `json:"should_fix_count"`
	SuggestionCount   *int64  `json:"suggestion_count"`
	ReviewerCount     *int64  `json:"reviewer_count"`
	TotalFindingCount *int64  `json:"total_finding_count"`
	SectionCount      *int64  `json:"section_count"`
	FileCount         *int64  `json:"file_count"`
}

// lifecycleArtifacts holds the file of each completed round or run to what
// the log says of it.
func lifecycleArtifacts(ctx context.Context, x *exam) result {
	events, err := x.all(ctx, "facts/completed.sql")
	if err != nil {
		return unknown(err, "ocr doctor --check lifecycle.artifacts")
	}
	found := len(events)
	if !x.Deep {
		events = events[:min(len(events), recentCompleted)]
	}
	var rows []Row
	for _, event := range events {
		if err := ctx.Err(); err != nil {
			return unknown(err, "ocr doctor --deep --check lifecycle.artifacts")
		}
		if fault := x.artifactFault(event); fault != "" {
			rows = append(rows, Row{
				"session_id": event.text("session_id"), "event_id": event.number("event_id"),
				"number": event.number("number"), "fault": fault,
			})
		}
	}
	scope := fmt.Sprintf("%d completed rounds and runs", len(events))
	if len(events) < found {
		scope = fmt.Sprintf("the newest %d of %d completed rounds and runs", len(events), found)
	}
	if len(rows) > 0 {
		return fail("ocr state show --session-id "+shell.Quote(rows[0].text("session_id")), "%d of %s are not as their file", len(rows), scope).with(rows)
	}
	return ok("%s have a file that says the same", scope)
}

// artifactFault says what is wrong with the file of one event. A payload is
// expected where the orchestrator brought one; what was found on disk later
// has its text for people.
func (x *exam) artifactFault(event Row) string {
	var r record
	if text := event.text("metadata"); text != "" {
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return "the record in the log cannot be read: " + err.Error()
		}
	}
	dir := x.project.SessionDir(event.text("session_dir"), event.text("session_id"))
	number := event.number("number")
	meta, final, compare := artifact.RoundMeta(number), artifact.RoundFinal(number), r.roundFault
	if event.text("event_type") == "map_completed" {
		meta, final, compare = artifact.MapMeta(number), artifact.MapFinal(number), r.mapFault
	}
	data, err := artifact.Read(dir, meta)
	switch {
	case err == nil:
		return compare(data)
	case !errors.Is(err, fs.ErrNotExist):
		return err.Error()
	case r.Source == "orchestrator":
		return meta + " is missing"
	}
	there, err := artifact.Exists(dir, final)
	switch {
	case err != nil:
		return err.Error()
	case !there:
		return fmt.Sprintf("%s and %s are missing", meta, final)
	}
	return ""
}

func (r record) roundFault(data []byte) string {
	round, err := artifact.ParseRound(data)
	if err != nil {
		return "round-meta.json: " + err.Error()
	}
	counts := round.Counts()
	if r.Verdict != nil && *r.Verdict != round.Verdict {
		return fmt.Sprintf("round-meta.json says %s, the log %s", round.Verdict, *r.Verdict)
	}
	return differing("round-meta.json", []pair{
		{"blockers", counts.Blockers, r.BlockerCount}, {"should_fix", counts.ShouldFix, r.ShouldFixCount},
		{"suggestions", counts.Suggestions, r.SuggestionCount}, {"reviewers", counts.Reviewers, r.ReviewerCount},
		{"findings", counts.Findings, r.TotalFindingCount},
	})
}

func (r record) mapFault(data []byte) string {
	m, err := artifact.ParseMap(data)
	if err != nil {
		return "map-meta.json: " + err.Error()
	}
	counts := m.Counts()
	return differing("map-meta.json", []pair{{"sections", counts.Sections, r.SectionCount}, {"files", counts.Files, r.FileCount}})
}

// pair is one number as the file and the log have it; the log may be silent.
type pair struct {
	name string
	file int64
	log  *int64
}

func differing(file string, pairs []pair) string {
	for _, p := range pairs {
		if p.log != nil && *p.log != p.file {
			return fmt.Sprintf("%s has %d %s, the log %d", file, p.file, p.name, *p.log)
		}
	}
	return ""
}
