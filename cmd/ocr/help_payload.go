package main

import (
	"strings"

	"ocr/internal/artifact"
)

// payloadTopic shows both formats, each with an example that is taken.
func payloadTopic() string {
	return `ocr state complete-round takes the result of a review round, one JSON object:

  schema_version    1
  verdict           APPROVE (no blocker counts), REQUEST CHANGES (one at least) or
                    NEEDS DISCUSSION
  reviewers         a list, which may be empty, of
    type            who reviewed, such as security
    instance        1 or more; type and instance together name one reviewer
    findings        a list, which may be empty, of
      title         8 characters or more
      category      blocker, should_fix, suggestion or style
      severity      critical, high, medium, low or info
      summary       a text
      file_path     if there is one, from the root of the repository
      line_start    if there is one, a whole number; line_end likewise
      flagged_by    if others say the same, a list
  synthesis_counts  if findings that say the same were merged: blockers, should_fix
                    and suggestions, none above the number of such findings

` + indent(artifact.RoundExample) + `
ocr state complete-map takes the result of a map run, one JSON object:

  schema_version    1
  sections          a list, which may be empty, of
    section_number  a whole number, another one for each section
    title           a text that is not empty
    description     if there is one, a text
    files           a list, which may be empty, of
      file_path     from the root of the repository, once in a section
      role          what the file is in this change; may be empty
      lines_added   0 or more
      lines_deleted 0 or more
  dependencies      if there are any, a list

` + indent(artifact.MapExample) + `
Other keys are kept, and named in a warning. null is not the same as left out. Texts
lose control characters, one leading [ocr] and what follows after 4096 characters.
A payload has at most 32 MiB. --print-schema of both commands prints a JSON Schema.
`
}

// indent sets an example off from the text.
func indent(example string) string {
	var b strings.Builder
	for line := range strings.Lines(example) {
		b.WriteString("  " + line)
	}
	return b.String()
}
