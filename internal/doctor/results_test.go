package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResultsKeepTriage: what a person said about a finding stays with it when
// the round is read in again.
func TestResultsKeepTriage(t *testing.T) {
	p := soundProject(t)
	raw(t, p.Database(),
		"INSERT INTO user_finding_progress (finding_id, status) SELECT id, 'fixed' FROM review_findings",
		"INSERT INTO user_notes (target_type, target_id, content) SELECT 'finding', id, 'mine' FROM review_findings",
		"UPDATE review_rounds SET verdict = 'APPROVE', blocker_count = 0")
	const people = `SELECT group_concat(f.id || f.title || p.status || n.content)
		FROM review_findings AS f
		INNER JOIN user_finding_progress AS p ON p.finding_id = f.id
		INNER JOIN user_notes AS n ON n.target_id = f.id`
	before := value(t, p.Database(), people)
	repair := mend(t, p, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}, false)
	if len(repair.Fixes) != 1 || repair.Fixes[0].Check != "data.results" || repair.Fixes[0].Outcome != Mended {
		t.Fatalf("%+v", repair.Fixes)
	}
	if after := value(t, p.Database(), people); after != before {
		t.Errorf("%s, was %s", after, before)
	}
	if verdicts := value(t, p.Database(), "SELECT group_concat(verdict || blocker_count) FROM review_rounds"); verdicts != "REQUEST CHANGES1,REQUEST CHANGES1" {
		t.Error(verdicts)
	}
}

// TestResultsFileContradicts: a file that says something else than the log
// stands for nothing, and is not read in.
func TestResultsFileContradicts(t *testing.T) {
	p := soundProject(t)
	raw(t, p.Database(), "DELETE FROM review_findings WHERE reviewer_output_id IN (SELECT o.id FROM reviewer_outputs AS o INNER JOIN review_rounds AS r ON r.id = o.round_id WHERE r.round_number = 2)")
	must(t, os.WriteFile(filepath.Join(p.Sessions(), "done", "rounds", "round-2", "round-meta.json"), []byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`), 0o644))
	before := snapshotOf(t, p.Root)
	repair := mend(t, p, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}, false)
	if len(repair.Fixes) != 1 || repair.Fixes[0].Outcome != Left || !strings.Contains(repair.Fixes[0].Detail, "does not say what the log says") || repair.Snapshot != "" {
		t.Errorf("%+v", repair)
	}
	if snapshotOf(t, p.Root) != before {
		t.Error("something changed")
	}
}

// TestResultsOfOthers: what other programs recorded without numbers, found on
// disk, or did not read in yet contradicts nothing.
func TestResultsOfOthers(t *testing.T) {
	p := soundProject(t)
	around(t, p.Database(), "trg_events_never_changed",
		`UPDATE orchestration_events SET metadata = CASE round
			WHEN 1 THEN '{"source":"reconciled","verdict":"APPROVE"}' ELSE '{"source":"orchestrator"}' END
		WHERE event_type = 'round_completed'`)
	raw(t, p.Database(), "DELETE FROM review_findings", "DELETE FROM map_runs")
	if rows := value(t, p.Database(), "SELECT count(*) FROM ("+strings.TrimSuffix(strings.TrimSpace(probeText(t, resultsProbe)), ";")+")"); rows != "0" {
		t.Errorf("%s contradictions", rows)
	}
}

func probeText(t *testing.T, file string) string {
	t.Helper()
	text, err := statements.ReadFile(file)
	must(t, err)
	return string(text)
}

// TestResultsKeptRows: a finding that a newer payload does not have, and that
// stays because somebody wrote on it, contradicts nothing; one on which nobody
// wrote does.
func TestResultsKeptRows(t *testing.T) {
	p := soundProject(t)
	rows := func() string {
		return value(t, p.Database(), "SELECT IFNULL(group_concat(field), '') FROM ("+strings.TrimSuffix(strings.TrimSpace(probeText(t, resultsProbe)), ";")+")")
	}
	raw(t, p.Database(), `INSERT INTO review_findings (id, reviewer_output_id, title, severity)
		SELECT 900, MIN(id), 'Not in the payload', 'low' FROM reviewer_outputs`)
	if got := rows(); got != "rows of review_findings" {
		t.Errorf("nobody wrote on it: %q", got)
	}
	raw(t, p.Database(), "INSERT INTO user_notes (target_type, target_id, content) VALUES ('finding', '900', 'mine')")
	if got := rows(); got != "" {
		t.Errorf("somebody wrote on it: %q", got)
	}
	raw(t, p.Database(), "DELETE FROM review_findings WHERE id <> 900")
	if got := rows(); !strings.Contains(got, "rows of review_findings") {
		t.Errorf("the others are gone: %q", got)
	}
}
