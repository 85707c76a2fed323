package db

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sharedHistory is what other programs rely on, version by version, written
// down independently of the SQL. A line adds, or with a minus takes away:
//
//	table T: COLUMN, ...; unique(COLUMN, ...)
//	column T: COLUMN
//	index|unique NAME TABLE(COLUMN, ...)
//	trigger NAME WHEN TABLE / view NAME: COLUMN, ...
//	key T.COLUMN -> T.COLUMN ACTION   replaces the action of a foreign key
//
// A COLUMN is a name, its type letter (T TEXT, I INTEGER), and nn (NOT NULL),
// pk, auto (AUTOINCREMENT), now (default datetime('now')), =DEFAULT,
// in(WORDS), ->TABLE(COLUMN) ACTION. "id" alone is id I pk auto.
const sharedHistory = `
v1
table schema_version: version I pk, applied_at T nn now, description T nn
table sessions: id T pk, branch T nn, status T nn ='active' in(active closed), workflow_type T nn in(review map), current_phase T nn ='context', phase_number I nn =1, current_round I nn =1, current_map_run I nn =1, started_at T nn now, updated_at T nn now, session_dir T nn
table orchestration_events: id, session_id T nn ->sessions(id) CASCADE, event_type T nn, phase T, phase_number I, round I, metadata T, created_at T nn now
index idx_events_session orchestration_events(session_id)
index idx_events_type orchestration_events(event_type)
table review_rounds: id, session_id T nn ->sessions(id) CASCADE, round_number I nn, verdict T, blocker_count I =0, suggestion_count I =0, should_fix_count I =0, final_md_path T, parsed_at T; unique(session_id,round_number)
table reviewer_outputs: id, round_id I nn ->review_rounds(id) CASCADE, reviewer_type T nn, instance_number I nn =1, file_path T nn, finding_count I =0, parsed_at T; unique(round_id,reviewer_type,instance_number)
table review_findings: id, reviewer_output_id I nn ->reviewer_outputs(id) CASCADE, title T nn, severity T nn in(critical high medium low info), file_path T, line_start I, line_end I, summary T, is_blocker I nn =0, parsed_at T
index idx_findings_severity review_findings(severity)
table markdown_artifacts: id, session_id T nn ->sessions(id) CASCADE, artifact_type T nn, round_number I, file_path T nn, content T nn, parsed_at T nn now; unique(session_id,artifact_type,round_number,file_path)
table map_runs: id, session_id T nn ->sessions(id) CASCADE, run_number I nn, file_count I =0, map_md_path T, parsed_at T; unique(session_id,run_number)
table map_sections: id, map_run_id I nn ->map_runs(id) CASCADE, section_number I nn, title T nn, description T, file_count I =0, display_order I nn =0; unique(map_run_id,section_number)
table map_files: id, section_id I nn ->map_sections(id) CASCADE, file_path T nn, role T, lines_added I =0, lines_deleted I =0, display_order I nn =0; unique(section_id,file_path)
table user_file_progress: id, map_file_id I nn ->map_files(id) CASCADE, is_reviewed I nn =0, reviewed_at T; unique(map_file_id)
table user_finding_progress: id, finding_id I nn ->review_findings(id) CASCADE, status T nn ='unread' in(unread read acknowledged fixed wont_fix), updated_at T nn now; unique(finding_id)
table user_notes: id, target_type T nn in(session round finding run section file), target_id T nn, content T nn, created_at T nn now, updated_at T nn now
table command_executions: id, command T nn, args T, exit_code I, started_at T nn now, finished_at T, output T
v2
table chat_conversations: id T pk, session_id T nn ->sessions(id) CASCADE, target_type T nn in(map_run review_round), target_id I nn, claude_session_id T, status T nn ='active' in(active expired), created_at T nn now, last_active_at T nn now
table chat_messages: id, conversation_id T nn ->chat_conversations(id) CASCADE, role T nn in(user assistant), content T nn, created_at T nn now
table user_round_progress: id, round_id I nn ->review_rounds(id) CASCADE, status T nn ='needs_review' in(needs_review in_progress changes_made acknowledged dismissed), updated_at T nn now; unique(round_id)
v3
column command_executions: pid I
v4
column command_executions: is_detached I nn =0
v5
key orchestration_events.session_id -> sessions.id RESTRICT
v6
column review_rounds: source T =NULL
column review_rounds: reviewer_count I =0
column review_rounds: total_finding_count I =0
v7
column review_findings: category T =NULL
v8
column map_runs: source T =NULL
column map_runs: section_count I =0
v9
column command_executions: uid T
unique idx_command_executions_uid command_executions(uid)
v10
table agent_sessions: id T pk, workflow_id T nn ->sessions(id) RESTRICT, vendor T nn, vendor_session_id T, persona T, instance_index I, name T, resolved_model T, phase T, status T nn in(spawning running done crashed cancelled orphaned), pid I, started_at T nn now, last_heartbeat_at T nn now, ended_at T, exit_code I, notes T
index idx_agent_sessions_workflow agent_sessions(workflow_id)
index idx_agent_sessions_status_heartbeat agent_sessions(status,last_heartbeat_at)
v11
column command_executions: workflow_id T ->sessions(id) RESTRICT
column command_executions: parent_id I ->command_executions(id) NO ACTION
column command_executions: vendor T
column command_executions: vendor_session_id T
column command_executions: persona T
column command_executions: instance_index I
column command_executions: name T
column command_executions: resolved_model T
column command_executions: last_heartbeat_at T
column command_executions: notes T
index idx_command_executions_workflow command_executions(workflow_id)
index idx_command_executions_parent command_executions(parent_id)
index idx_command_executions_heartbeat command_executions(last_heartbeat_at)
-table agent_sessions
-index idx_agent_sessions_workflow
-index idx_agent_sessions_status_heartbeat
v12
index idx_sessions_status sessions(status)
index idx_events_session_created orchestration_events(session_id,created_at)
trigger trg_events_known_type BEFORE INSERT orchestration_events
trigger trg_sessions_close_guard BEFORE UPDATE OF status sessions
view session_completeness: session_id, workflow_type, status, current_round, current_map_run, has_terminal_artifact, marked_closed, dependents_settled, completeness_state
v13
-column command_executions: parent_id
-index idx_command_executions_parent
v14
unique idx_markdown_artifacts_logical markdown_artifacts(session_id,artifact_type,IFNULL(round_number,-1),file_path)
`

// TestSharedSchema applies the shared steps one by one and compares the file
// with the description after each.
func TestSharedSchema(t *testing.T) {
	versions := regexp.MustCompile(`(?m)^v\d+\n`).Split(sharedHistory, -1)[1:]
	if len(versions) != SharedLatest {
		t.Fatalf("%d versions described, want %d", len(versions), SharedLatest)
	}
	want := map[string]string{}
	for i, text := range versions {
		for line := range strings.Lines(text) {
			describe(t, want, strings.TrimSpace(line))
		}
		t.Run(fmt.Sprintf("v%d", i+1), func(t *testing.T) {
			p := promptAt(t, i+1)
			got := observe(t, p)
			for _, key := range slices.Sorted(maps.Keys(want)) {
				if got[key] != want[key] {
					t.Errorf("%s\n got: %s\nwant: %s", key, got[key], want[key])
				}
			}
			for _, key := range slices.Sorted(maps.Keys(got)) {
				if _, ok := want[key]; !ok {
					t.Errorf("not described: %s %s", key, got[key])
				}
			}
			p.want(t, "SELECT COUNT(*), MAX(version), MIN(length(description)) > 0, COUNT(datetime(applied_at)) FROM schema_version",
				fmt.Sprintf("%d|%d|1|%d", i+1, i+1, i+1))
		})
	}
}

// TestOwnStepsKeepSharedSchema holds the steps from 15 up to leaving every
// shared table, index and column of a shared view as it was.
func TestOwnStepsKeepSharedSchema(t *testing.T) {
	before, after := observe(t, promptAt(t, SharedLatest)), observe(t, newPrompt(t))
	if len(before) < 150 {
		t.Fatalf("only %d facts observed", len(before))
	}
	before["trigger trg_sessions_close_guard"] = "AFTER UPDATE OF status sessions" // tightened, same name
	for key, fact := range before {
		if after[key] != fact {
			t.Errorf("%s\n was: %s\n now: %s", key, fact, after[key])
		}
	}
	newPrompt(t).want(t, "SELECT MAX(version) FROM schema_version", fmt.Sprint(SharedLatest))
}

// describe turns one line of the history into facts.
func describe(t *testing.T, facts map[string]string, line string) {
	t.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	subject, detail, _ := strings.Cut(rest, ":")
	switch kind {
	case "table":
		columns, uniques, _ := strings.Cut(detail, ";")
		facts["table "+subject] = "here"
		for i, column := range strings.Split(columns, ",") {
			describeColumn(facts, subject, i, column)
		}
		if uniques != "" {
			facts["constraint "+subject+strings.TrimPrefix(uniques, " unique")] = "unique"
		}
	case "column":
		count := 0
		for key := range facts {
			if strings.HasPrefix(key, "column "+subject+".") {
				count++
			}
		}
		describeColumn(facts, subject, count, detail)
	case "index", "unique":
		name, on, _ := strings.Cut(rest, " ")
		facts["index "+name] = kind + " " + on
	case "trigger":
		name, on, _ := strings.Cut(rest, " ")
		facts["trigger "+name] = on
	case "view":
		facts["view "+subject] = strings.TrimSpace(detail)
	case "key":
		column, target, _ := strings.Cut(rest, " -> ")
		facts["key "+column] = target
	case "-table":
		maps.DeleteFunc(facts, func(key, _ string) bool {
			return key == "table "+subject || strings.Contains(key, " "+subject+".")
		})
	case "-index":
		delete(facts, "index "+rest)
	case "-column":
		renumber(facts, subject, strings.TrimSpace(detail))
	default:
		t.Fatalf("the description has a line that says nothing: %q", line)
	}
}

func describeColumn(facts map[string]string, table string, place int, text string) {
	words := strings.TrimSpace(text)
	if words == "id" {
		words = "id I pk auto"
	}
	name, words, _ := strings.Cut(words, " ")
	key := table + "." + name
	if before, reference, found := strings.Cut(words, "->"); found {
		target, action, _ := strings.Cut(reference, " ")
		facts["key "+key] = strings.NewReplacer("(", ".", ")", "").Replace(target) + " " + action
		words = before
	}
	if before, allowed, found := strings.Cut(words, "in("); found {
		facts["check "+key] = strings.TrimSuffix(strings.TrimSpace(allowed), ")")
		words = before
	}
	if before, found := strings.CutSuffix(strings.TrimSpace(words), " auto"); found {
		facts["auto "+table] = name
		words = before
	}
	words = strings.TrimSpace(strings.Replace(words, "now", "=datetime('now')", 1))
	facts["column "+key] = fmt.Sprintf("%d %s", place, words)
}

// renumber takes a column away and moves up the ones behind it.
func renumber(facts map[string]string, table, column string) {
	var gone, place int
	_, _ = fmt.Sscan(facts["column "+table+"."+column], &gone)
	delete(facts, "column "+table+"."+column)
	delete(facts, "key "+table+"."+column)
	for key, fact := range facts {
		if strings.HasPrefix(key, "column "+table+".") {
			_, _ = fmt.Sscan(fact, &place)
			_, rest, _ := strings.Cut(fact, " ")
			if place > gone {
				facts[key] = fmt.Sprintf("%d %s", place-1, rest)
			}
		}
	}
}

var (
	checkedWords = regexp.MustCompile(`(?s)CHECK\s*\(\s*(\w+)\s+IN\s*\(([^)]*)\)`)
	quotedWord   = regexp.MustCompile(`'([^']*)'`)
	triggerEvent = regexp.MustCompile(`(?s)CREATE TRIGGER \w+\s+(.*?)\s+ON\s+(\w+)`)
	indexColumns = regexp.MustCompile(`(?s)ON (\w+)\s*(\(.*?\))(\s+WHERE .*)?\s*$`)
	blanks       = regexp.MustCompile(`\s+`)
)

// observe reads the same facts from a file.
func observe(t *testing.T, p prompt) map[string]string {
	t.Helper()
	facts := map[string]string{}
	split := func(query string, into func(cells []string)) {
		for _, line := range p.rows(t, query) {
			into(strings.SplitN(line, "|", strings.Count(query, ",")+1))
		}
	}
	split("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'", func(table []string) {
		name, text := table[0], table[1]
		facts["table "+name] = "here"
		split("SELECT cid, name, type, \"notnull\", IFNULL(dflt_value, 'none'), pk, hidden FROM pragma_table_xinfo('"+name+"')", func(c []string) {
			words := c[0] + " " + strings.NewReplacer("TEXT", "T", "INTEGER", "I").Replace(c[2])
			if c[3] == "1" {
				words += " nn"
			}
			if c[5] == "1" {
				words += " pk"
			}
			if c[4] != "none" {
				words += " =" + c[4]
			}
			if c[6] != "0" {
				words += " hidden"
			}
			facts["column "+name+"."+c[1]] = words
		})
		split("SELECT \"from\", \"table\", \"to\", on_delete, on_update FROM pragma_foreign_key_list('"+name+"')", func(c []string) {
			fact := c[1] + "." + c[2] + " " + c[3]
			if c[4] != "NO ACTION" {
				fact += " and on update " + c[4]
			}
			facts["key "+name+"."+c[0]] = fact
		})
		for _, match := range checkedWords.FindAllStringSubmatch(text, -1) {
			var words []string
			for _, word := range quotedWord.FindAllStringSubmatch(match[2], -1) {
				words = append(words, word[1])
			}
			facts["check "+name+"."+match[1]] = strings.Join(words, " ")
		}
		// No shared table is STRICT: what our own ones check is not compared.
		if !strings.HasSuffix(text, "STRICT") && strings.Count(text, "CHECK") != len(checkedWords.FindAllString(text, -1)) {
			t.Errorf("%s has a CHECK that this test cannot read", name)
		}
		if strings.Contains(text, "AUTOINCREMENT") {
			facts["auto "+name] = "id"
		}
		split("SELECT l.origin, (SELECT group_concat(i.name, ',') FROM pragma_index_info(l.name) AS i) FROM pragma_index_list('"+name+"') AS l", func(c []string) {
			if strings.HasPrefix(c[0], "u") {
				facts["constraint "+name+"("+c[1]+")"] = "unique"
			}
		})
	})
	split("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL", func(c []string) {
		kind, match := "index", indexColumns.FindStringSubmatch(c[1])
		if strings.HasPrefix(c[1], "CREATE UNIQUE") {
			kind = "unique"
		}
		on := blanks.ReplaceAllString(match[2]+match[3], " ")
		facts["index "+c[0]] = kind + " " + match[1] + strings.NewReplacer("( ", "(", " )", ")", ", ", ",").Replace(on)
	})
	split("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'", func(c []string) {
		match := triggerEvent.FindStringSubmatch(c[1])
		facts["trigger "+c[0]] = match[1] + " " + match[2]
	})
	for _, name := range p.rows(t, "SELECT name FROM sqlite_schema WHERE type = 'view'") {
		facts["view "+name] = strings.Join(p.rows(t, "SELECT name FROM pragma_table_info('"+name+"')"), ", ")
	}
	return facts
}
