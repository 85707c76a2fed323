package main

import (
	"fmt"
	"io"
	"strings"

	"ocr/internal/care"
)

// writeSessionReport writes what people want to know of one session, as Markdown.
func writeSessionReport(w io.Writer, id string, content care.Content) {
	for _, s := range content["sessions"] {
		fmt.Fprintf(w, "# %s\n\n", plain(id))
		for _, fact := range [][2]string{
			{"Branch", "branch"}, {"Workflow", "workflow_type"}, {"Status", "status"}, {"Phase", "current_phase"},
			{"Round", "current_round"}, {"Map run", "current_map_run"}, {"Started", "started_at"},
			{"Updated", "updated_at"}, {"Folder", "session_dir"},
		} {
			fmt.Fprintf(w, "- %s: %s\n", fact[0], plain(s[fact[1]]))
		}
	}
	grid(w, "Timeline", content["orchestration_events"], "created_at", "event_type", "phase", "round", "metadata")
	for _, round := range content["review_rounds"] {
		fmt.Fprintf(w, "\n## Round %s: %s\n", plain(round["round_number"]), plain(round["verdict"]))
		for _, output := range with(content["reviewer_outputs"], "round_id", round["id"]) {
			title := fmt.Sprintf("Findings of %s %s", plain(output["reviewer_type"]), plain(output["instance_number"]))
			findings := with(content["review_findings"], "reviewer_output_id", output["id"])
			for _, f := range findings {
				f["triage"] = one(content["user_finding_progress"], "finding_id", f["id"])["status"]
			}
			grid(w, "#"+title, findings, "severity", "category", "title", "file_path", "line_start", "triage", "summary")
		}
	}
	for _, run := range content["map_runs"] {
		fmt.Fprintf(w, "\n## Map run %s\n", plain(run["run_number"]))
		for _, section := range with(content["map_sections"], "map_run_id", run["id"]) {
			title := fmt.Sprintf("%s. %s", plain(section["section_number"]), plain(section["title"]))
			files := with(content["map_files"], "section_id", section["id"])
			for _, f := range files {
				f["is_reviewed"] = one(content["user_file_progress"], "map_file_id", f["id"])["is_reviewed"]
			}
			grid(w, "#"+title, files, "file_path", "role", "lines_added", "lines_deleted", "is_reviewed")
		}
	}
	grid(w, "Processes", content["command_executions"],
		"started_at", "finished_at", "exit_code", "command", "name", "vendor", "resolved_model", "notes")
	grid(w, "Notes", content["user_notes"], "created_at", "target_type", "target_id", "content")
	for _, chat := range content["chat_conversations"] {
		grid(w, "Conversation "+plain(chat["id"]), with(content["chat_messages"], "conversation_id", chat["id"]),
			"created_at", "role", "content")
	}
	grid(w, "Stored texts", content["markdown_artifacts"], "artifact_type", "round_number", "file_path", "parsed_at")
	fmt.Fprintln(w)
}

// grid writes rows as a table, nothing when there are none. A "#" before the
// title makes it a lower heading.
func grid(w io.Writer, title string, rows []map[string]any, columns ...string) {
	if len(rows) == 0 {
		return
	}
	lower, title := title[0] == '#', strings.TrimPrefix(title, "#")
	mark := "##"
	if lower {
		mark = "###"
	}
	fmt.Fprintf(w, "\n%s %s\n\n| %s |\n|%s\n", mark, title, strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, row := range rows {
		fmt.Fprint(w, "|")
		for _, column := range columns {
			fmt.Fprintf(w, " %s |", plain(row[column]))
		}
		fmt.Fprintln(w)
	}
}

func with(rows []map[string]any, column string, value any) []map[string]any {
	var found []map[string]any
	for _, row := range rows {
		if row[column] == value {
			found = append(found, row)
		}
	}
	return found
}

func one(rows []map[string]any, column string, value any) map[string]any {
	for _, row := range with(rows, column, value) {
		return row
	}
	return nil
}

// plain is a value within a line of Markdown: what would be a mark there is
// escaped.
func plain(value any) string {
	marks := strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;", "#", `\#`, "\n", "<br>")
	return oneLine(marks.Replace(plainValue(value)))
}
