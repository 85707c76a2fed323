package doctor

import (
	"strings"
	"testing"
)

// TestDeleteAltered: an altered view that would name real findings costs no
// row, neither before it is made again nor in the same call.
func TestDeleteAltered(t *testing.T) {
	for _, c := range []struct {
		name, check string
		want        string
	}{
		{"OnlyTheDeletion", "data.foreign_keys", Left},
		{"All", "", Mended},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := soundProject(t)
			raw(t, p.Database(),
				"INSERT INTO user_finding_progress (finding_id, status) SELECT id, 'read' FROM review_findings",
				"DROP VIEW orphan_artifacts",
				"CREATE VIEW orphan_artifacts AS SELECT 'review_findings' AS table_name, id AS row_id FROM review_findings",
				"INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('gone', 'final', 'x', 'y')")
			counts := "SELECT (SELECT count(*) FROM review_findings) || ' ' || (SELECT count(*) FROM user_finding_progress)"
			before := value(t, p.Database(), counts)
			in := Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}
			if c.check != "" {
				in.Only = []string{c.check}
			}
			repair := mend(t, p, in, false)
			last := repair.Fixes[len(repair.Fixes)-1]
			if last.Check != "data.foreign_keys" || last.Outcome != c.want {
				t.Errorf("%+v", repair.Fixes)
			}
			if c.want == Left && !strings.Contains(last.Detail, "view orphan_artifacts changed") {
				t.Errorf("the reason is %q", last.Detail)
			}
			if after := value(t, p.Database(), counts); after != before || before == "0 0" {
				t.Errorf("findings and triage: %s, were %s", after, before)
			}
		})
	}
}

// TestDeleteAlong: a trigger of somebody else that takes a note along with an
// orphan keeps the whole deletion from happening, and the note is named.
func TestDeleteAlong(t *testing.T) {
	for _, trigger := range []string{
		"CREATE TRIGGER mine AFTER DELETE ON review_findings BEGIN DELETE FROM user_notes; END",
		"CREATE TRIGGER mine AFTER DELETE ON review_findings BEGIN UPDATE user_notes SET content = ''; END",
	} {
		p := soundProject(t)
		raw(t, p.Database(), "INSERT INTO user_notes (id, target_type, target_id, content) VALUES (77, 'session', 'done', 'mine')",
			"INSERT INTO review_findings (id, reviewer_output_id, title, severity) VALUES (950, 901, 'lost finding', 'low')", trigger)
		in := Request{Start: p.Root, Getenv: environment(t), Program: thisProgram(), Only: []string{"data.foreign_keys"}}
		repair := mend(t, p, in, false)
		if len(repair.Fixes) != 1 || repair.Fixes[0].Outcome != Left || !strings.Contains(repair.Fixes[0].Detail, "1 of user_notes (id 77)") {
			t.Errorf("%+v", repair.Fixes)
		}
		if got := value(t, p.Database(), "SELECT count(*) || (SELECT content FROM user_notes WHERE id = 77) FROM review_findings WHERE id = 950"); got != "1mine" {
			t.Errorf("afterwards %s", got)
		}
	}
}
