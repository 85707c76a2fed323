package artifact

import (
	"slices"
	"strings"
	"unicode"

	"ocr/internal/spelling"
)

// shape is an object of a payload as the formats know it.
type shape struct {
	what string
	keys []string
	// also are other words for a key that writers use, folded.
	also map[string]string
}

var (
	roundShape = shape{"a round", []string{"schema_version", "verdict", "reviewers", "synthesis_counts"}, map[string]string{
		"version": "schema_version", "decision": "verdict", "result": "verdict", "recommendation": "verdict",
		"reviews": "reviewers", "counts": "synthesis_counts",
	}}
	reviewerShape = shape{"a reviewer", []string{"type", "instance", "findings"}, map[string]string{
		"reviewer": "type", "reviewertype": "type", "name": "type", "persona": "type", "role": "type",
		"number": "instance", "instancenumber": "instance", "id": "instance", "issues": "findings", "comments": "findings",
	}}
	findingShape = shape{"a finding", []string{"title", "category", "severity", "summary", "file_path", "line_start", "line_end", "flagged_by"}, map[string]string{
		"name": "title", "heading": "title", "type": "category", "kind": "category", "level": "severity", "priority": "severity",
		"description": "summary", "details": "summary", "body": "summary", "message": "summary", "text": "summary",
		"file": "file_path", "filename": "file_path", "path": "file_path", "location": "file_path",
		"line": "line_start", "linenumber": "line_start", "start": "line_start", "startline": "line_start",
		"end": "line_end", "endline": "line_end", "reviewers": "flagged_by",
	}}
	countsShape = shape{"synthesis_counts", []string{"blockers", "should_fix", "suggestions"}, map[string]string{
		"blockercount": "blockers", "shouldfixcount": "should_fix", "suggestioncount": "suggestions",
	}}
	mapShape     = shape{"a map", []string{"schema_version", "sections", "dependencies"}, map[string]string{"version": "schema_version"}}
	sectionShape = shape{"a section", []string{"section_number", "title", "description", "files"}, map[string]string{
		"number": "section_number", "id": "section_number", "section": "section_number", "name": "title", "heading": "title", "summary": "description",
	}}
	fileShape = shape{"a file", []string{"file_path", "role", "lines_added", "lines_deleted"}, map[string]string{
		"file": "file_path", "filename": "file_path", "path": "file_path", "name": "file_path",
		"description": "role", "purpose": "role", "summary": "role", "added": "lines_added", "additions": "lines_added",
		"deleted": "lines_deleted", "deletions": "lines_deleted", "removed": "lines_deleted", "linesremoved": "lines_deleted",
	}}
)

// meant is the key that the writer of an unknown one probably had in mind, ""
// for none: another spelling, another word, or the nearest name.
func (s shape) meant(key string) string {
	if len(key) > maxQuoted {
		return ""
	}
	key = fold(key)
	var names []string
	for _, known := range s.keys {
		if fold(known) == key {
			return known
		}
		names = append(names, fold(known))
	}
	if known := s.also[key]; known != "" {
		return known
	}
	if i := slices.Index(names, spelling.Nearest(key, names)); i >= 0 {
		return s.keys[i]
	}
	return ""
}

// fold makes lineStart, line-start and LINE_START one word.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
}

// Warnings are remarks on a payload that is taken as it is.
type Warnings struct {
	// First are the first ones in document order, no more than MaxProblems.
	First []Problem
	// More is the number of the others.
	More int
}

// unknown remarks on the members of o that nobody reads.
func (c *checker) unknown(o *object) {
	for _, m := range o.members {
		if slices.Contains(o.keys, m.key) || c.warned.has(m.path) {
			continue
		}
		c.warned.add(m.offset, m.path, func() string {
			message := "is no key of " + o.what + ": it is kept, and nothing reads it"
			if known := o.meant(m.key); known != "" && !o.has(known) {
				message += "; " + known + " was probably meant"
			}
			return message
		})
	}
}

func (c *checker) warnings() Warnings {
	return Warnings{c.warned.problems(), c.warned.more()}
}

// below is the path of a member.
func below(path, key string) string {
	if key == "" || len(key) > maxQuoted || strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) {
		return path + "[" + quote(key) + "]"
	}
	return path + "." + key
}
