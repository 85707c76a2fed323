package care_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ocr/db"
	"ocr/internal/care"
	"ocr/internal/lifecycle"
)

func TestStats(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.bulky()
	files := d.files()
	s, err := care.Stats(t.Context(), d.Project.Database(), d.Options())
	must(t, err)
	if d.files() != files {
		t.Error("counting changed something")
	}
	info, err := os.Stat(d.Project.Database())
	must(t, err)
	if !s.Exists || s.FileBytes != info.Size() || s.LogBytes != 0 || s.Sizes.LiveBytes()+s.Sizes.FreeBytes() != info.Size() ||
		s.Sizes.FreeBytes() < info.Size()/2 {
		t.Errorf("%+v, file %d", s, info.Size())
	}
	if s.Sizes.Tables[0].Name != "markdown_artifacts" || s.Sizes.Tables[0].Rows != 20 {
		t.Errorf("largest table: %+v", s.Sizes.Tables[0])
	}
	total := int64(0)
	for _, table := range s.Sizes.Tables {
		total += table.Bytes + table.IndexBytes
	}
	if total > s.Sizes.LiveBytes() || total < s.Sizes.LiveBytes()*3/4 {
		t.Errorf("tables take %d of %d live bytes", total, s.Sizes.LiveBytes())
	}
	if s.Counts.ClosedSessions != 1 || s.Counts.Events != 2 || s.Counts.Executions != 1 || s.Counts.MarkdownDuplicates != 0 {
		t.Errorf("%+v", s.Counts)
	}
	if len(s.Largest) != 1 || s.Largest[0].Bytes < 20*8000 {
		t.Errorf("%+v", s.Largest)
	}
	t.Run("Duplicates", func(t *testing.T) {
		d.run("DROP INDEX idx_markdown_artifacts_logical",
			"INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('s', 'plan', 'p', 'x'), ('s', 'plan', 'p', 'x'), ('s', 'plan', 'p', 'y')")
		s, err := care.Stats(t.Context(), d.Project.Database(), d.Options())
		if err != nil || s.Counts.MarkdownDuplicates != 2 {
			t.Errorf("%+v %v", s.Counts, err)
		}
	})
	t.Run("NoEvents", func(t *testing.T) {
		d := newDesk(t)
		d.run("INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('bare', 'b', 'review', 'd'), (NULL, 'b', 'review', 'd')")
		s, err := care.Stats(t.Context(), d.Project.Database(), d.Options())
		if err != nil || len(s.Largest) != 1 || s.Largest[0].Events != 0 || s.Largest[0].Bytes != 0 {
			t.Errorf("%+v %v", s.Largest, err)
		}
	})
	t.Run("NoDatabase", func(t *testing.T) {
		s, err := care.Stats(t.Context(), filepath.Join(t.TempDir(), "ocr.db"), db.Options{})
		if err != nil || s.Exists {
			t.Errorf("%+v %v", s, err)
		}
	})
}

// sink counts what an export hands out.
type sink struct{ rows map[string]int }

func (s *sink) Begin() error { s.rows = map[string]int{}; return nil }
func (s *sink) Table(name string, _ []string) error {
	s.rows["table"], s.rows[name] = s.rows["table"]+1, 0
	return nil
}
func (s *sink) Row([]any) error { s.rows["row"]++; return nil }

func TestExport(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.session("a", "closed", "2020-01-02 00:00:00")
	d.session("b", "active", "2020-01-02 00:00:00")
	total := 0
	for _, n := range d.counts() {
		var rows int
		_, _ = fmt.Sscan(n, &rows)
		total += rows
	}
	to := &sink{}
	must(t, care.Export(t.Context(), d.Project.Database(), d.Options(), "", to))
	if to.rows["row"] != total || to.rows["table"] != len(d.counts()) {
		t.Errorf("%v, want %d rows", to.rows, total)
	}
	t.Run("Session", func(t *testing.T) {
		d.run("INSERT INTO user_notes (target_type, target_id, content) VALUES ('finding', '" + d.only("review_findings", "a") + "', 'mine'), ('finding', '" + d.only("review_findings", "b") + "', 'not mine'), ('session', 'a', 'mine'), ('run', '" + d.only("map_runs", "b") + "', 'not mine')")
		got := care.Content{}
		err := care.ExportSessions(t.Context(), d.Project.Database(), d.Options(), "a", func() error { return nil },
			func(_ string, content care.Content) error { got = content; return nil })
		must(t, err)
		want := map[string]int{
			"sessions": 1, "orchestration_events": 2, "command_executions": 1, "review_rounds": 2, "reviewer_outputs": 2,
			"review_findings": 4, "map_runs": 1, "map_sections": 2, "map_files": 2, "markdown_artifacts": 1, "user_notes": 2,
		}
		for table, rows := range want {
			if len(got[table]) != rows {
				t.Errorf("%s: %d rows, want %d", table, len(got[table]), rows)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d tables with rows, want %d", len(got), len(want))
		}
		for _, note := range got["user_notes"] {
			if note["content"] != "mine" {
				t.Errorf("%v", note)
			}
		}
	})
	t.Run("NoSession", func(t *testing.T) {
		d.wantKind(care.Export(t.Context(), d.Project.Database(), d.Options(), "nope", to), lifecycle.KindNoSession)
	})
	t.Run("NoDatabase", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ocr.db")
		if err := care.Export(t.Context(), path, db.Options{}, "", to); err != nil || len(to.rows) != 0 {
			t.Errorf("%v %v", to.rows, err)
		}
		if err := care.Export(t.Context(), path, db.Options{}, "a", to); db.KindOf(err) != db.KindNoDatabase {
			t.Error(err)
		}
	})
}

func TestRecover(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.session("a", "closed", "2020-01-02 00:00:00")
	before := d.counts()
	f, err := os.OpenFile(d.Project.Database(), os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, 100), 0)
	must(t, err)
	must(t, f.Close())
	target := filepath.Join(t.TempDir(), "saved.db")
	_, err = care.Recover(t.Context(), d.Project.Database(), target)
	must(t, err)
	t.Run("Exists", func(t *testing.T) {
		_, err := care.Recover(t.Context(), d.Project.Database(), target)
		d.wantKind(err, care.KindExists)
	})
	t.Run("Usable", func(t *testing.T) {
		// The saved file in the place of the damaged one: every verb works.
		must(t, os.Rename(d.Project.Database(), d.Project.Database()+".damaged"))
		must(t, os.Rename(target, d.Project.Database()))
		must(t, lifecycle.Caller.Upgrade(d.Caller, t.Context()))
		for table, rows := range d.counts() {
			if before[table] != rows {
				t.Errorf("%s: %s rows, want %s", table, rows, before[table])
			}
		}
	})
}
