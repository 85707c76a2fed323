package artifact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestUnknownKeys: a key that nothing reads is kept, and named with the one
// that was probably meant, at every level of both formats.
func TestUnknownKeys(t *testing.T) {
	const finding, file = `"title": "Another title", `, `"file_path": "a.go", `
	for name, c := range map[string]struct {
		base, before, keys string
		want               []string // path, and the key meant
	}{
		"Root":     {sound, `"reviewers"`, `"versoin": 1, "counts": {}, "notes": {"title": 1}`, []string{"$.versoin ", "$.counts ", "$.notes "}},
		"Reviewer": {sound, `"type": "architect", "instance": 2`, `"reviewer": "x", "mood": 1`, []string{"$.reviewers[1].reviewer ", "$.reviewers[1].mood "}},
		"Finding": {sound, finding, `"file": "a.go", "line": 4, "lineEnd": 5, "flaggedBy": [], "tags": [{"file": 1}]`, []string{
			"$.reviewers[0].findings[1].file file_path", "$.reviewers[0].findings[1].line line_start", "$.reviewers[0].findings[1].lineEnd line_end",
			"$.reviewers[0].findings[1].flaggedBy flagged_by", "$.reviewers[0].findings[1].tags "}},
		"Spelling":    {sound, finding, `"file_pth": "a.go", "LINE_START": 4, "sumary": ""`, []string{"$.reviewers[0].findings[1].file_pth file_path", "$.reviewers[0].findings[1].LINE_START line_start", "$.reviewers[0].findings[1].sumary "}},
		"Counts":      {sound, `"blockers": 1`, `"blocker": 1, "style": 3`, []string{"$.synthesis_counts.blocker ", "$.synthesis_counts.style "}},
		"CountsWord":  {sound, `"synthesis_counts"`, `"synthesisCounts": {"x": 1}`, []string{"$.synthesisCounts "}},
		"Map":         {soundMap, `"sections"`, `"legend": 1, "dependency": []`, []string{"$.legend ", "$.dependency "}},
		"Section":     {soundMap, `"title": "End"`, `"number": 4, "summary": "s"`, []string{"$.sections[1].number ", "$.sections[1].summary description"}},
		"File":        {soundMap, file, `"path": "a.go", "additions": 1, "x": 1`, []string{"$.sections[0].files[0].path ", "$.sections[0].files[0].additions ", "$.sections[0].files[0].x "}},
		"Dependency":  {soundMap, `"sections"`, `"x": 1, "y": 2`, []string{"$.x ", "$.y "}},
		"Given twice": {sound, finding, `"file": 1, "file": 2`, []string{"$.reviewers[0].findings[1].file file_path"}},
		"Odd keys":    {sound, finding, `"": 1, "a b": 1, "\u001b[31m": 1, "` + strings.Repeat("k", 5000) + `": 1`, []string{`$.reviewers[0].findings[1][""] `, `$.reviewers[0].findings[1]["a b"] `, `$.reviewers[0].findings[1]["\x1b[31m"] `, `$.reviewers[0].findings[1]["` + strings.Repeat("k", maxQuoted) + `"...] `}},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(strings.Replace(c.base, c.before, c.keys+", "+c.before, 1))
			var warnings Warnings
			var document []byte
			if c.base == soundMap {
				m, err := ParseMap([]byte(strings.Replace(string(data), `"dependencies": []`, `"dependencies": [{"sections": 1, "file": 2}]`, 1)))
				if err != nil {
					t.Fatal(err)
				}
				warnings, document = m.Warnings(), m.Document()
			} else {
				r, err := ParseRound(data)
				if err != nil {
					t.Fatal(err)
				}
				warnings, document = r.Warnings(), r.Document()
			}
			var got []string
			for _, p := range warnings.First {
				kept, meant, _ := strings.Cut(p.Message, "; ")
				got = append(got, p.Path+" "+strings.TrimSuffix(meant, " was probably meant"))
				if !strings.HasPrefix(kept, "is no key of ") || strings.Contains(p.Path+p.Message, "\x1b") || len(p.Path+p.Message) > 300 {
					t.Errorf("%+v", p)
				}
			}
			if !slices.Equal(got, c.want) || warnings.More != 0 {
				t.Errorf("%q, want %q", got, c.want)
			}
			if first, _, _ := strings.Cut(c.keys, ":"); !strings.Contains(string(document), first) {
				t.Errorf("%s is not kept: %s", first, document)
			}
		})
	}
	t.Run("Bounded", func(t *testing.T) {
		var keys strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&keys, `"file%d": 1, `, i)
		}
		r, err := ParseRound([]byte("{" + keys.String() + sound[1:]))
		if err != nil {
			t.Fatal(err)
		}
		if w := r.Warnings(); len(w.First) != MaxProblems || w.More != 2000-MaxProblems || w.First[19].Path != "$.file19" {
			t.Errorf("%d and %d more: %v", len(w.First), w.More, w.First)
		}
	})
	t.Run("None", func(t *testing.T) {
		r, err := ParseRound([]byte(sound))
		if err != nil || r.Warnings().First == nil || len(r.Warnings().First) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("Missing", func(t *testing.T) {
		err := parseRound([]byte(strings.Replace(sound, `"summary": "why"`, `"description": "why"`, 1)))
		wantProblems(t, err, "$.reviewers[0].findings[0].summary")
		if !strings.Contains(err.Error(), `is missing; was "description" meant to be it?`) {
			t.Error(err)
		}
	})
}
