package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// problems are the paths of an *Invalid, in the order reported.
func problems(t *testing.T, err error) []string {
	t.Helper()
	invalid, ok := errors.AsType[*Invalid](err)
	if !ok {
		t.Fatalf("want *Invalid, got %v", err)
	}
	var paths []string
	for _, p := range invalid.Problems {
		if p.Message == "" || !strings.Contains(err.Error(), p.Path+" "+p.Message) {
			t.Errorf("problem %+v is not in the text: %v", p, err)
		}
		paths = append(paths, p.Path)
	}
	return paths
}

func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	if got := problems(t, err); !slices.Equal(got, want) {
		t.Errorf("problems at %q, want %q\n%v", got, want, err)
	}
}

func parseRound(data []byte) error { _, err := ParseRound(data); return err }
func parseMap(data []byte) error   { _, err := ParseMap(data); return err }

func TestPayloadWhole(t *testing.T) {
	for name, data := range map[string]string{
		"Empty":         "",
		"Blank":         " \n\t",
		"Word":          "not json at all",
		"Cut":           `{"schema_version": 1,`,
		"Trailing":      `{} {}`,
		"Null":          "null",
		"Array":         "[]",
		"String":        `"verdict"`,
		"Number":        "17",
		"InvalidUTF8":   "{\"schema_version\": 1, \"x\": \"\xff\"}",
		"ByteOrder":     "\ufeff\ufeff{}",
		"TooDeep":       strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
		"TooDeepInside": `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
		"TooLarge":      `{"x":"` + strings.Repeat("x", MaxPayload) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			wantProblems(t, parseRound([]byte(data)), "$")
			wantProblems(t, parseMap([]byte(data)), "$")
		})
	}
	t.Run("Position", func(t *testing.T) {
		err := parseRound([]byte("{\n  \"a\": x}"))
		if !strings.Contains(err.Error(), "line 2, byte 8") {
			t.Errorf("no position: %v", err)
		}
	})
	t.Run("LargestIsTaken", func(t *testing.T) {
		frame := `{"schema_version":1,"sections":[],"x":""}`
		data := strings.Replace(frame, `""`, `"`+strings.Repeat("x", MaxPayload-len(frame))+`"`, 1)
		if err := parseMap([]byte(data)); len(data) != MaxPayload || err != nil {
			t.Errorf("%d bytes: %v", len(data), err)
		}
	})
	t.Run("OtherKind", func(t *testing.T) {
		err := parseRound([]byte(`{"schema_version":1,"sections":[]}`))
		wantProblems(t, err, "$")
		if !strings.Contains(err.Error(), "ocr state complete-map") {
			t.Errorf("no verb: %v", err)
		}
		err = parseMap([]byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`))
		wantProblems(t, err, "$")
		if !strings.Contains(err.Error(), "ocr state complete-round") {
			t.Errorf("no verb: %v", err)
		}
	})
}

// sound is a payload with every key; the cases below change one place of it.
const sound = `{"schema_version": 1, "verdict": "REQUEST CHANGES", "reviewers": [
  {"type": "architect", "instance": 1, "findings": [
    {"title": "exactly8", "category": "blocker", "severity": "high", "summary": "why",
     "file_path": "a/b.go", "line_start": 1, "line_end": 2, "flagged_by": ["x"]},
    {"title": "Another title", "category": "style", "severity": "info", "summary": ""}]},
  {"type": "architect", "instance": 2, "findings": []}],
  "synthesis_counts": {"blockers": 1, "should_fix": 0, "suggestions": 0}}`

const soundMap = `{"schema_version": 1, "sections": [
  {"section_number": 1, "title": "Start", "description": "about", "files": [
    {"file_path": "a.go", "role": "core", "lines_added": 3, "lines_deleted": 0},
    {"file_path": "b.go", "role": "", "lines_added": 0, "lines_deleted": 4}]},
  {"section_number": 2, "title": "End", "files": []}], "dependencies": []}`

// change is one edit of a sound payload and the problems it makes.
type change struct {
	old, new string
	want     []string
}

// checkChanges also holds the JSON Schema to the same answers.
func checkChanges(t *testing.T, base string, parse func([]byte) error, schemaText []byte, changes map[string]change) {
	schema := compileSchema(t, schemaText)
	schemaAgrees(t, schema, base, true, "")
	if err := parse([]byte(base)); err != nil {
		t.Fatalf("the base is not sound: %v", err)
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(base, c.old) {
				t.Fatalf("%q is not in the base", c.old)
			}
			payload := strings.Replace(base, c.old, c.new, 1)
			err := parse([]byte(payload))
			schemaAgrees(t, schema, payload, err == nil, name)
			if c.want == nil {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wantProblems(t, err, c.want...)
		})
	}
}

func TestParseRoundRules(t *testing.T) {
	const finding = "$.reviewers[0].findings[0]"
	at := func(paths ...string) []string { return paths }
	checkChanges(t, sound, parseRound, RoundSchema, map[string]change{
		"VersionMissing":       {`"schema_version": 1, `, ``, at("$.schema_version")},
		"VersionOther":         {`"schema_version": 1`, `"schema_version": 2`, at("$.schema_version")},
		"VersionText":          {`"schema_version": 1`, `"schema_version": "1"`, at("$.schema_version")},
		"VersionSpelled":       {`"schema_version": 1`, `"schema_version": 1.0`, nil},
		"VersionTwice":         {`"schema_version": 1`, `"schema_version": 1, "schema_version": 1`, at("$.schema_version")},
		"KeyCase":              {`"schema_version"`, `"Schema_Version"`, at("$.schema_version")},
		"VerdictMissing":       {`"verdict": "REQUEST CHANGES", `, ``, at("$.verdict")},
		"VerdictLower":         {`REQUEST CHANGES`, `request changes`, at("$.verdict")},
		"VerdictNumber":        {`"REQUEST CHANGES"`, `5`, at("$.verdict")},
		"VerdictEmpty":         {`REQUEST CHANGES`, ` `, at("$.verdict")},
		"VerdictTrimmed":       {`REQUEST CHANGES`, ` \n REQUEST CHANGES\u0007\t`, nil},
		"VerdictMarked":        {`REQUEST CHANGES`, `[ocr] REQUEST CHANGES`, nil},
		"Discussion":           {`REQUEST CHANGES`, `NEEDS DISCUSSION`, nil},
		"ApproveWithBlocker":   {`REQUEST CHANGES`, `APPROVE`, at("$.verdict")},
		"ReviewersNull":        {sound[strings.Index(sound, `[`) : strings.LastIndex(sound, `]`)+1], `null`, at("$.reviewers")},
		"ReviewersObject":      {sound[strings.Index(sound, `[`) : strings.LastIndex(sound, `]`)+1], `{}`, at("$.reviewers")},
		"ReviewerNull":         {`{"type": "architect", "instance": 2, "findings": []}`, `null`, at("$.reviewers[1]")},
		"ReviewerTwice":        {`"instance": 2`, `"instance": 1.0`, at("$.reviewers[1]")},
		"TypeMissing":          {`"type": "architect", `, ``, at("$.reviewers[0].type")},
		"TypeNumber":           {`"architect"`, `1`, at("$.reviewers[0].type")},
		"InstanceMissing":      {`"instance": 1, `, ``, at("$.reviewers[0].instance")},
		"InstanceText":         {`"instance": 1`, `"instance": "1"`, at("$.reviewers[0].instance")},
		"InstanceZero":         {`"instance": 1`, `"instance": 0`, at("$.reviewers[0].instance")},
		"InstanceFraction":     {`"instance": 1`, `"instance": 1.5`, at("$.reviewers[0].instance")},
		"InstanceHuge":         {`"instance": 1`, `"instance": 1e300`, at("$.reviewers[0].instance")},
		"FindingsMissing":      {`, "findings": []`, ``, at("$.reviewers[1].findings")},
		"FindingsNull":         {`"findings": []`, `"findings": null`, at("$.reviewers[1].findings")},
		"FindingNull":          {`"findings": []`, `"findings": [null]`, at("$.reviewers[1].findings[0]")},
		"TitleMissing":         {`"title": "exactly8", `, ``, at(finding + ".title")},
		"TitleNumber":          {`"exactly8"`, `12345678`, at(finding + ".title")},
		"TitleShort":           {`exactly8`, `seven77`, at(finding + ".title")},
		"TitlePadded":          {`exactly8`, `   abcdefg    `, at(finding + ".title")},
		"TitleMarked":          {`exactly8`, `[ocr] abcdefg`, at(finding + ".title")},
		"TitleControls":        {`exactly8`, `\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007`, at(finding + ".title")},
		"TitleEmoji":           {`exactly8`, `🎉🎉🎉🎉`, at(finding + ".title")},
		"TitleTwice":           {`"title": "exactly8"`, `"title": "exactly8", "title": "exactly9"`, at(finding + ".title")},
		"CategoryMissing":      {`"category": "blocker", `, ``, at(finding + ".category")},
		"CategoryOther":        {`"blocker"`, `"nit"`, at(finding + ".category")},
		"SeverityMissing":      {`"severity": "high", `, ``, at(finding + ".severity")},
		"SeverityOther":        {`"high"`, `"severe"`, at(finding + ".severity")},
		"SummaryMissing":       {`, "summary": "why"`, ``, at(finding + ".summary")},
		"SummaryArray":         {`"why"`, `["a"]`, at(finding + ".summary")},
		"PathNumber":           {`"a/b.go"`, `7`, at(finding + ".file_path")},
		"PathNull":             {`"a/b.go"`, `null`, at(finding + ".file_path")},
		"LineText":             {`"line_start": 1`, `"line_start": "10"`, at(finding + ".line_start")},
		"LineNull":             {`"line_end": 2`, `"line_end": null`, at(finding + ".line_end")},
		"LineFraction":         {`"line_end": 2`, `"line_end": 2.5`, at(finding + ".line_end")},
		"FlaggedByText":        {`["x"]`, `"architect-1"`, at(finding + ".flagged_by")},
		"FlaggedByNull":        {`["x"]`, `null`, at(finding + ".flagged_by")},
		"CountsNull":           {`{"blockers": 1, "should_fix": 0, "suggestions": 0}`, `null`, at("$.synthesis_counts")},
		"CountsEmpty":          {`{"blockers": 1, "should_fix": 0, "suggestions": 0}`, `{}`, at("$.synthesis_counts.blockers", "$.synthesis_counts.should_fix", "$.synthesis_counts.suggestions")},
		"CountsAbsent":         {`"synthesis_counts": {"blockers": 1, "should_fix": 0, "suggestions": 0}`, `"x": 1`, nil},
		"CountNegative":        {`"blockers": 1`, `"blockers": -1`, at("$.synthesis_counts.blockers")},
		"CountFraction":        {`"should_fix": 0`, `"should_fix": 0.5`, at("$.synthesis_counts.should_fix")},
		"CountAboveBlockers":   {`"blockers": 1`, `"blockers": 2`, at("$.synthesis_counts.blockers")},
		"CountAboveShouldFix":  {`"should_fix": 0`, `"should_fix": 1`, at("$.synthesis_counts.should_fix")},
		"CountAboveStyle":      {`"suggestions": 0`, `"suggestions": 1`, at("$.synthesis_counts.suggestions")},
		"CountsWithoutBlocker": {`"blockers": 1`, `"blockers": 0`, at("$.verdict")},
	})
	t.Run("RequestWithoutBlocker", func(t *testing.T) {
		wantProblems(t, parseRound([]byte(`{"schema_version":1,"verdict":"REQUEST CHANGES","reviewers":[]}`)), "$.verdict")
	})
	t.Run("UnknownTwice", func(t *testing.T) {
		wantProblems(t, parseRound([]byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[],"x":1,"x":2,"verdict":"APPROVE"}`)), "$.verdict")
	})
}

func TestParseRoundAllProblems(t *testing.T) {
	err := parseRound([]byte(`{"reviewers": [
	  {"findings": [{"severity": "x", "title": "short"}, 3], "instance": 0, "type": "a"}, 7],
	  "synthesis_counts": {"suggestions": -1}, "verdict": "LGTM", "schema_version": 2}`))
	wantProblems(t, err,
		"$.reviewers[0].findings[0].category", "$.reviewers[0].findings[0].summary",
		"$.reviewers[0].findings[0].severity", "$.reviewers[0].findings[0].title",
		"$.reviewers[0].findings[1]", "$.reviewers[0].instance", "$.reviewers[1]",
		"$.synthesis_counts.blockers", "$.synthesis_counts.should_fix", "$.synthesis_counts.suggestions",
		"$.verdict", "$.schema_version")
}

// TestProblemsAreBounded: a payload of nothing but faults gives a short answer
// that says how many there are, wherever the faults are, and in document order.
func TestProblemsAreBounded(t *testing.T) {
	faults := func(n int) string { return strings.TrimSuffix(strings.Repeat("1,", n), ",") }
	for name, parse := range map[string]func(n int) error{
		"Reviewers": func(n int) error {
			return parseRound([]byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[` + faults(n) + `]}`))
		},
		"Findings": func(n int) error {
			return parseRound([]byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[{"type":"a","instance":1,"findings":[` + faults(n) + `]}]}`))
		},
		"Files": func(n int) error {
			return parseMap([]byte(`{"schema_version":1,"sections":[{"section_number":1,"title":"t","files":[` + faults(n) + `]}]}`))
		},
		"FirstInDocumentOrder": func(n int) error { // and looked at last
			return parseRound([]byte(`{"synthesis_counts":1,"schema_version":1,"verdict":"APPROVE","reviewers":[` + faults(n-1) + `]}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n, others := range map[int]string{
				MaxProblems: "", MaxProblems + 1: "\n  and 1 other", 50 * MaxProblems: "\n  and 980 others",
				maxCounted: "\n  and 99980 others", maxCounted + 1: "\n  and more than 99980 others: checking stopped there",
			} {
				err := parse(n)
				invalid, ok := errors.AsType[*Invalid](err)
				if !ok || len(invalid.Problems) != MaxProblems || invalid.More != min(n, maxCounted)-MaxProblems || invalid.Truncated != (n > maxCounted) {
					t.Fatalf("%d faults: %v", n, err)
				}
				first := invalid.Problems[0].Path
				if name == "FirstInDocumentOrder" && n <= maxCounted && first != "$.synthesis_counts" || name == "Files" && first != "$.sections[0].files[0]" {
					t.Errorf("%d faults: the first is %s", n, first)
				}
				if text := err.Error(); !strings.HasSuffix(text, invalid.Problems[MaxProblems-1].Message+others) || len(text) > 2500 {
					t.Errorf("%d faults: %s", n, text)
				}
				if line := invalid.Summary(); strings.Contains(line, "\n") || !strings.Contains(line, first) || len(line) > 200 {
					t.Errorf("%d faults: %s", n, line)
				}
			}
		})
	}
}

// TestProblemsOnce: one mistake is one problem.
func TestProblemsOnce(t *testing.T) {
	wantProblems(t, parseRound([]byte(strings.Replace(sound, `"title": "exactly8"`, strings.Repeat(`"title": "exactly8", `, 4)+`"title": 7`, 1))), "$.reviewers[0].findings[0].title")
	wantProblems(t, parseMap([]byte(strings.NewReplacer(`"a.go"`, `" "`, `"b.go"`, `" "`).Replace(soundMap))), "$.sections[0].files[0].file_path", "$.sections[0].files[1].file_path")
}

func TestInvalidIsSafeToPrint(t *testing.T) {
	err := parseRound([]byte(`{"schema_version":1,"verdict":"\u001b[31m` + strings.Repeat("x", 1000) + `","reviewers":[]}`))
	if text := err.Error(); strings.Contains(text, "\x1b") || len(text) > 400 {
		t.Errorf("%d bytes: %q", len(text), text)
	}
}

func TestParseRoundResult(t *testing.T) {
	r, err := ParseRound([]byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	f := r.Reviewers[0].Findings[0]
	if r.Verdict != RequestChanges || len(r.Reviewers) != 2 || r.Reviewers[1].Instance != 2 ||
		f.Title != "exactly8" || f.Category != Blocker || f.Severity != "high" || f.Summary != "why" ||
		*f.FilePath != "a/b.go" || *f.LineStart != 1 || *f.LineEnd != 2 {
		t.Errorf("read as %+v", r)
	}
	if g := r.Reviewers[0].Findings[1]; g.FilePath != nil || g.LineStart != nil || g.LineEnd != nil {
		t.Errorf("what is absent is not nil: %+v", g)
	}
	if got, want := r.Counts(), (RoundCounts{Blockers: 1, Reviewers: 2, Findings: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestRoundCounts(t *testing.T) {
	findings := `[{"title":"A fine title","category":"blocker","severity":"low","summary":""},
	  {"title":"A fine title","category":"should_fix","severity":"low","summary":""},
	  {"title":"A fine title","category":"suggestion","severity":"low","summary":""},
	  {"title":"A fine title","category":"style","severity":"low","summary":""}]`
	reviewers := `"reviewers":[{"type":"a","instance":1,"findings":` + findings + `},{"type":"b","instance":1,"findings":` + findings + `}]`
	t.Run("Tally", func(t *testing.T) {
		r, err := ParseRound([]byte(`{"schema_version":1,"verdict":"REQUEST CHANGES",` + reviewers + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Counts(), (RoundCounts{2, 2, 2, 2, 8}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
	})
	t.Run("Stated", func(t *testing.T) {
		r, err := ParseRound([]byte(`{"schema_version":1,"verdict":"APPROVE",` + reviewers +
			`,"synthesis_counts":{"blockers":0,"should_fix":2,"suggestions":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Counts(), (RoundCounts{0, 2, 1, 2, 8}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
	})
}

func TestDocument(t *testing.T) {
	r, err := ParseRound([]byte(`{"z":{"big":123456789012345678901234567890,"n":1.50},"schema_version":1.0,"verdict":" APPROVE ",` +
		`"reviewers":[{"mood":"<calm> & \ud83d","type":"\u0007 a","instance":1e0,"findings":[{"tags":["a",{"b":null}],"title":"[ocr] A \u001btitle here ",` +
		`"category":"style","severity":"low","summary":"\ud83d cut & <b>","file_path":"\u0007p"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "z": {
    "big": 123456789012345678901234567890,
    "n": 1.50
  },
  "schema_version": 1.0,
  "verdict": "APPROVE",
  "reviewers": [
    {
      "mood": "<calm> & \ufffd",
      "type": "\u0007 a",
      "instance": 1e0,
      "findings": [
        {
          "tags": [
            "a",
            {
              "b": null
            }
          ],
          "title": "A title here ",
          "category": "style",
          "severity": "low",
          "summary": "` + "\ufffd" + ` cut & <b>",
          "file_path": "\u0007p"
        }
      ]
    }
  ]
}
`
	if got := string(r.Document()); got != want {
		t.Errorf("document:\n%s\nwant:\n%s", got, want)
	}
	again, err := ParseRound(r.Document())
	if err != nil || !bytes.Equal(again.Document(), r.Document()) {
		t.Errorf("the document is not its own document: %v", err)
	}
}

func TestParseMapRules(t *testing.T) {
	const file = "$.sections[0].files[0]"
	at := func(paths ...string) []string { return paths }
	all := soundMap[strings.Index(soundMap, `[`) : strings.LastIndex(soundMap, `}], `)+2]
	checkChanges(t, soundMap, parseMap, MapSchema, map[string]change{
		"VersionMissing":      {`"schema_version": 1, `, ``, at("$.schema_version")},
		"VersionOther":        {`"schema_version": 1`, `"schema_version": 3`, at("$.schema_version")},
		"SectionsObject":      {all, `{"a": 1}`, at("$.sections")},
		"SectionsNull":        {all, `null`, at("$.sections")},
		"SectionsEmpty":       {all, `[]`, nil},
		"SectionNull":         {`{"section_number": 2, "title": "End", "files": []}`, `null`, at("$.sections[1]")},
		"NumberMissing":       {`"section_number": 1, `, ``, at("$.sections[0].section_number")},
		"NumberText":          {`"section_number": 1`, `"section_number": "1"`, at("$.sections[0].section_number")},
		"NumberFraction":      {`"section_number": 1`, `"section_number": 1.5`, at("$.sections[0].section_number")},
		"NumberNegative":      {`"section_number": 1`, `"section_number": -1`, nil},
		"NumberTwice":         {`"section_number": 2`, `"section_number": 1`, at("$.sections[1].section_number")},
		"TitleMissing":        {`"title": "Start", `, ``, at("$.sections[0].title")},
		"TitleBlank":          {`"Start"`, `"  "`, at("$.sections[0].title")},
		"TitleMarkerOnly":     {`"Start"`, `"[ocr] \u0007"`, at("$.sections[0].title")},
		"DescriptionNumber":   {`"about"`, `4`, at("$.sections[0].description")},
		"DescriptionNull":     {`"about"`, `null`, at("$.sections[0].description")},
		"DescriptionEmpty":    {`"about"`, `""`, nil},
		"FilesMissing":        {`, "files": []`, ``, at("$.sections[1].files")},
		"FilesObject":         {`"files": []`, `"files": {}`, at("$.sections[1].files")},
		"FileNull":            {`"files": []`, `"files": [null]`, at("$.sections[1].files[0]")},
		"PathMissing":         {`"file_path": "a.go", `, ``, at(file + ".file_path")},
		"PathBlank":           {`"a.go"`, `" "`, at(file + ".file_path")},
		"PathTwice":           {`"b.go"`, `"a.go"`, at("$.sections[0].files[1].file_path")},
		"PathTwiceElsewhere":  {`"files": []`, `"files": [{"file_path": "a.go", "role": "", "lines_added": 0, "lines_deleted": 0}]`, nil},
		"RoleMissing":         {`"role": "core", `, ``, at(file + ".role")},
		"RoleNull":            {`"core"`, `null`, at(file + ".role")},
		"AddedText":           {`"lines_added": 3`, `"lines_added": "12"`, at(file + ".lines_added")},
		"AddedNegative":       {`"lines_added": 3`, `"lines_added": -1`, at(file + ".lines_added")},
		"DeletedMissing":      {`, "lines_deleted": 0`, ``, at(file + ".lines_deleted")},
		"DependenciesObject":  {`"dependencies": []`, `"dependencies": {"a": "b"}`, at("$.dependencies")},
		"DependenciesNull":    {`"dependencies": []`, `"dependencies": null`, at("$.dependencies")},
		"DependenciesAbsent":  {`"dependencies": []`, `"legend": {"x": 1}`, nil},
		"SeveralInOneSection": {`"section_number": 1, "title": "Start"`, `"section_number": "x", "title": ""`, at("$.sections[0].section_number", "$.sections[0].title")},
	})
}

func TestParseMapResult(t *testing.T) {
	m, err := ParseMap([]byte(strings.NewReplacer(`"core"`, `"co\u0000re"`, `"about"`, `"[ocr] about"`, `"a.go"`, `" a\u0007.go"`).Replace(soundMap)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Counts(), (MapCounts{Sections: 2, Files: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	s := m.Sections[0]
	if s.Number != 1 || s.Title != "Start" || *s.Description != "about" || m.Sections[1].Description != nil ||
		s.Files[0] != (File{" a\a.go", "core", 3, 0}) {
		t.Errorf("read as %+v", m)
	}
	var document struct {
		Sections []struct{ Files []map[string]any }
	}
	if err := json.Unmarshal(m.Document(), &document); err != nil {
		t.Fatal(err)
	}
	if f := document.Sections[0].Files[0]; f["role"] != "core" || f["file_path"] != " a\a.go" {
		t.Errorf("written as %v", f)
	}
}

func TestSameDocument(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1,2]}`, ` { "b":[1.0,2e0],"a":10e-1}`, true},
		{`"\u00e9"`, `"é"`, true},
		{`not json`, `not json`, true},
		{`not json`, `{}`, false},
		{`{}`, `not json`, false},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1}`, `{"a":1,"b":1}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`1`, `"1"`, false},
		{`0`, `-0.0`, true},
		{`12345678901234567890`, `12345678901234567891`, false},
		{`null`, `false`, false},
		{`1e99999999999`, `1e99999999999`, true},
		{`1e99999999999`, `2`, false},
	} {
		if SameDocument([]byte(c.a), []byte(c.b)) != c.want {
			t.Errorf("SameDocument(%s, %s) is not %v", c.a, c.b, c.want)
		}
	}
}

func FuzzParseRound(f *testing.F) {
	for _, seed := range []string{sound, soundMap, "", "null", `{"reviewers":[{"findings":[{}]}]}`,
		`{"schema_version":1e999999999999,"verdict":"\ud800","reviewers":[]}`, `{"reviewers":[1,,]}`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func([]byte) ([]byte, error){
			func(b []byte) ([]byte, error) {
				r, err := ParseRound(b)
				if err != nil {
					return nil, err
				}
				return r.Document(), nil
			},
			func(b []byte) ([]byte, error) {
				m, err := ParseMap(b)
				if err != nil {
					return nil, err
				}
				return m.Document(), nil
			},
		} {
			document, err := parse(data)
			if err != nil {
				problems(t, err)
				continue
			}
			if _, err := parse(document); err != nil {
				t.Errorf("the document of a sound payload is refused: %v", err)
			}
		}
	})
}

// TestAcceptedIsReadAgain: what was taken is never larger when stored, if it was
// as large as may be, is taken again as it is stored, and says the same then.
func TestAcceptedIsReadAgain(t *testing.T) {
	frame := func(sections, rest string) string {
		return `{"schema_version":1,"sections":[` + sections + `]` + rest + `}`
	}
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for name, data := range map[string]string{
		"ManySmallValues": frame("", `,"x":[`+strings.Repeat("1,", 20000)+`1]`),
		"Objects":         frame("", `,"x":[`+strings.Repeat(`{"a":1},`, 9000)+`1]`),
		"Deep":            frame("", `,"x":[`+strings.Repeat(deep+",", 20)+`1]`),
		"Angles":          frame(`{"section_number":1,"title":"t","files":[]}`, `,"x":"`+strings.Repeat("<", 50000)+`"`),
		"Escapes":         frame("", `,"x":"`+strings.Repeat(`\u00e9\ud83d`, 4000)+`"`),
		"LineSeparators":  frame("", `,"`+strings.Repeat("\u2028", 9000)+`":1`),
		"ShortEscapes":    frame(`{"section_number":1,"title":"\u2028\u2029<t>","files":[]}`, `,"`+strings.Repeat(`\b\f`, 9000)+`":1`),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := ParseMap([]byte(data))
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			var plain bytes.Buffer
			if err := json.Compact(&plain, m.Document()); err != nil {
				t.Fatal(err)
			}
			least := stored(plain.Bytes(), len(data))
			if len(least) > len(data) {
				t.Fatalf("%d bytes are stored as %d", len(data), len(least))
			}
			for _, document := range [][]byte{least, m.Document()} {
				again, err := ParseMap(document)
				if err != nil || !bytes.Equal(again.Document(), m.Document()) {
					t.Errorf("not read again as the same: %v", err)
				}
			}
		})
	}
	t.Run("MarkerUnderMarker", func(t *testing.T) {
		wantProblems(t, parseRound([]byte(strings.Replace(sound, "exactly8", "[ocr] [ocr] abc", 1))), "$.reviewers[0].findings[0].title")
		wantProblems(t, parseMap([]byte(strings.Replace(soundMap, "Start", "[ocr] [ocr]", 1))), "$.sections[0].title")
	})
}

// TestIndentedSize: the size that decides is the size that is written.
func TestIndentedSize(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `[[],{}]`, ` { "a" : [ 1 , "\"]{,:\\" , {} ] , "b":{"c":null}} `, `[1,[2,[3]]]`, `{"a":{"b":{"c":[[]]}}}`} {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(strings.TrimSpace(text)), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := indentedSize([]byte(text), MaxPayload); got != b.Len() {
			t.Errorf("%s: %d, but it is written in %d", text, got, b.Len())
		}
	}
}

// TestLoneSurrogates: no half of a pair reaches the document, wherever it
// stands; whole pairs and escaped backslashes stay.
func TestLoneSurrogates(t *testing.T) {
	data := strings.Replace(soundMap, `"dependencies": []`,
		`"dependencies": ["\ud800"], "\udc00k": {"\ud83d": ["\ud83d\ude00", "\\ud83d", "\ud83d\ud83d\ude00", "\ud83d\u0041"]}`, 1)
	m, err := ParseMap([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(m.Document(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"\ufffd": []any{"\U0001f600", `\ud83d`, "\ufffd\U0001f600", "\ufffdA"}}
	if inner := got["\ufffdk"]; !reflect.DeepEqual(inner, want) {
		t.Errorf("%q", inner)
	}
	text := string(m.Document())
	for _, half := range []string{`"\ud800"`, `"\udc00`, `"\ud83d"`, `\ud83d\ud83d`, `\ud83d\u0041`} {
		if strings.Contains(text, half) {
			t.Errorf("%s is still there: %s", half, text)
		}
	}
}

func TestByteOrderMark(t *testing.T) {
	if err := parseRound([]byte("\ufeff" + sound)); err != nil {
		t.Error(err)
	}
	if err := parseMap([]byte("\ufeff " + soundMap)); err != nil {
		t.Error(err)
	}
	if !SameDocument([]byte("\ufeff"+sound), []byte(sound)) {
		t.Error("the mark makes a difference")
	}
}
