package artifact

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// beyondSchema are the cases of TestParseRoundRules and TestParseMapRules in
// which a JSON Schema cannot say what the checks say. In the first group it takes
// what they refuse, in the second it refuses what they take.
var beyondSchema = map[string]bool{
	"VersionTwice": true, "TitleTwice": true, // it never sees that a key stands twice
	"ReviewerTwice": true, "NumberTwice": true, "PathTwice": true, // nothing compares items by some of their keys
	"CountAboveBlockers": true, "CountAboveShouldFix": true, "CountAboveStyle": true, // nor counts them
	"TitlePadded": true, "TitleMarked": true, "TitleControls": true, "TitleMarkerOnly": true, // nor cleans a text

	"VerdictTrimmed": true, "VerdictMarked": true,
}

// schemaAgrees holds the schema to the checks, which took the payload or not.
func schemaAgrees(t *testing.T, schema *jsonschema.Schema, payload string, taken bool, name string) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(payload)))
	if err != nil {
		t.Fatal(err)
	}
	refusal := schema.Validate(document)
	if agrees := taken == (refusal == nil); agrees == beyondSchema[name] {
		t.Errorf("the checks take it: %t; the schema says: %v", taken, refusal)
	}
}

// compileSchema also checks that it is a schema.
func compileSchema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7) // it names its own
	if err := c.AddResource("payload.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("payload.json")
	if err != nil {
		t.Fatal(err)
	}
	if schema.DraftVersion != 2020 {
		t.Errorf("it is of draft %d", schema.DraftVersion)
	}
	return schema
}

// TestSchemaVerdicts: the verdict is held to the blockers that count.
func TestSchemaVerdicts(t *testing.T) {
	schema := compileSchema(t, RoundSchema)
	reviewers := map[string]string{
		"none":    `[]`,
		"clean":   `[{"type":"a","instance":1,"findings":[]}]`,
		"blocked": `[{"type":"a","instance":1,"findings":[]},{"type":"b","instance":1,"findings":[{"title":"A fine title","category":"style","severity":"low","summary":""},{"title":"A fine title","category":"blocker","severity":"low","summary":""}]}]`,
	}
	for _, verdict := range []string{Approve, RequestChanges, NeedsDiscussion} {
		for name, list := range reviewers {
			for _, counts := range []string{"", `,"synthesis_counts":{"blockers":0,"should_fix":0,"suggestions":0}`, `,"synthesis_counts":{"blockers":1,"should_fix":0,"suggestions":0}`} {
				payload := `{"schema_version":1,"verdict":"` + verdict + `","reviewers":` + list + counts + `}`
				if name != "blocked" && len(counts) > 0 && counts[32] == '1' {
					continue // more blockers than findings: beyond a schema
				}
				t.Run(verdict+name+counts, func(t *testing.T) {
					schemaAgrees(t, schema, payload, parseRound([]byte(payload)) == nil, "")
				})
			}
		}
	}
}

// TestExamples: the examples are taken as they are, by checks and schemas, and
// hold nothing that is not known.
func TestExamples(t *testing.T) {
	r, err := ParseRound([]byte(RoundExample))
	if err != nil || len(r.Warnings().First) > 0 {
		t.Fatalf("%v %+v", err, r)
	}
	m, err := ParseMap([]byte(MapExample))
	if err != nil || len(m.Warnings().First) > 0 {
		t.Fatalf("%v %+v", err, m)
	}
	schemaAgrees(t, compileSchema(t, RoundSchema), RoundExample, true, "")
	schemaAgrees(t, compileSchema(t, MapSchema), MapExample, true, "")
}

// TestSchemaKeys: the schemas know the keys that the checks know.
func TestSchemaKeys(t *testing.T) {
	keys := func(s *jsonschema.Schema, want shape) {
		t.Helper()
		for s.Ref != nil {
			s = s.Ref
		}
		if len(s.Properties) != len(want.keys) {
			t.Errorf("%s: %d keys, want %q", want.what, len(s.Properties), want.keys)
		}
		for _, key := range want.keys {
			if s.Properties[key] == nil {
				t.Errorf("%s: no %s", want.what, key)
			}
		}
	}
	item := func(s *jsonschema.Schema, key string) *jsonschema.Schema { return s.Properties[key].Items2020 }
	round := compileSchema(t, RoundSchema)
	keys(round, roundShape)
	keys(round.Properties["synthesis_counts"], countsShape)
	keys(item(round, "reviewers"), reviewerShape)
	keys(item(item(round, "reviewers").Ref, "findings"), findingShape)
	run := compileSchema(t, MapSchema)
	keys(run, mapShape)
	keys(item(run, "sections"), sectionShape)
	keys(item(item(run, "sections").Ref, "files"), fileShape)
}
