package db

import (
	"context"
	"fmt"
)

// sessionRows tells, for each table whose rows belong to sessions, which ones
// belong to the session ?1. Tables that are not here belong to no session. It
// stands in Go, because a named query has fixed columns, and the rows of a
// table go out with whatever columns the file has.
var sessionRows = []struct{ table, where string }{
	{"sessions", "id = ?1"},
	{"orchestration_events", "session_id = ?1"},
	{"command_executions", "workflow_id = ?1"},
	{"process_identity", "execution_id IN (SELECT x.id FROM command_executions AS x WHERE x.workflow_id = ?1)"},
	{"review_rounds", "session_id = ?1"},
	{"reviewer_outputs", "round_id IN (" + sessionRounds + ")"},
	{"review_findings", "id IN (" + sessionFindings + ")"},
	{"map_runs", "session_id = ?1"},
	{"map_sections", "id IN (" + sessionSections + ")"},
	{"map_files", "id IN (" + sessionMapFiles + ")"},
	{"markdown_artifacts", "session_id = ?1"},
	{"user_round_progress", "round_id IN (" + sessionRounds + ")"},
	{"user_finding_progress", "finding_id IN (" + sessionFindings + ")"},
	{"user_file_progress", "map_file_id IN (" + sessionMapFiles + ")"},
	{"user_notes", `CASE target_type
    WHEN 'session' THEN target_id = ?1
    WHEN 'round' THEN CAST(target_id AS INTEGER) IN (` + sessionRounds + `)
    WHEN 'finding' THEN CAST(target_id AS INTEGER) IN (` + sessionFindings + `)
    WHEN 'run' THEN CAST(target_id AS INTEGER) IN (` + sessionRuns + `)
    WHEN 'section' THEN CAST(target_id AS INTEGER) IN (` + sessionSections + `)
    WHEN 'file' THEN CAST(target_id AS INTEGER) IN (` + sessionMapFiles + `)
END`},
	{"chat_conversations", "session_id = ?1"},
	{"chat_messages", "conversation_id IN (SELECT c.id FROM chat_conversations AS c WHERE c.session_id = ?1)"},
}

const (
	sessionRounds   = "SELECT r.id FROM review_rounds AS r WHERE r.session_id = ?1"
	sessionFindings = "SELECT f.id FROM review_findings AS f INNER JOIN reviewer_outputs AS o ON o.id = f.reviewer_output_id WHERE o.round_id IN (" + sessionRounds + ")"
	sessionRuns     = "SELECT r.id FROM map_runs AS r WHERE r.session_id = ?1"
	sessionSections = "SELECT s.id FROM map_sections AS s WHERE s.map_run_id IN (" + sessionRuns + ")"
	sessionMapFiles = "SELECT f.id FROM map_files AS f WHERE f.section_id IN (" + sessionSections + ")"
)

// Dump is where Export puts what it reads.
type Dump struct {
	// Table begins a table; its rows follow.
	Table func(name string, columns []string) error
	// Row gets the values in the order of the columns: nil, int64, float64,
	// string or []byte.
	Row func(values []any) error
}

// Export hands out all rows of all tables, or those of one session, in the
// order of their row numbers. The tables of a session come in a fixed order,
// all tables in the order of their names.
func (r *Reader) Export(ctx context.Context, session string, to Dump) error {
	if session != "" {
		for _, part := range sessionRows {
			if err := r.exportTable(ctx, part.table, part.where, to, session); err != nil {
				return err
			}
		}
		return nil
	}
	tables, err := names(ctx, r.conn, `
SELECT name FROM sqlite_schema
WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
ORDER BY name`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := r.exportTable(ctx, table, "1", to); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) exportTable(ctx context.Context, table, where string, to Dump, args ...any) (err error) {
	rows, err := r.conn.QueryContext(ctx, fmt.Sprintf("SELECT * FROM %s WHERE %s ORDER BY rowid", quoteName(table), where), args...)
	if err != nil {
		return err
	}
	defer func() { err = join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := to.Table(table, columns); err != nil {
		return err
	}
	for rows.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := to.Row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}
