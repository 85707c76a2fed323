package doctor

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ocr/internal/project"
)

// destructive are words that nothing may hold that is said: an agent takes
// them for advice.
var destructive = regexp.MustCompile(`(?i)force|delete|drop |rm |init`)

// damage is one way to break a sound project.
type damage struct {
	name string
	// id is the check that must see it, status what it must say.
	id     string
	status Status
	// damage may change the request.
	damage func(t *testing.T, p project.Project, in *Request)
	// nobody: looked at by a user without rights.
	nobody bool
	// measured is a part of what must be said.
	measured string
}

func damages() []damage {
	return []damage{
		{name: "ProgramGone", id: "program.binary", status: Warn, damage: func(_ *testing.T, p project.Project, in *Request) {
			in.Program.Path = filepath.Join(p.Root, "gone")
		}},
		{name: "OtherProgramFirst", id: "program.path", status: Warn, damage: func(t *testing.T, p project.Project, in *Request) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "ocr"), []byte("#!/bin/sh\n"), 0o755))
			setPath(in, dir)
		}},
		{name: "NoProject", id: "place.project", status: Fail, damage: func(t *testing.T, p project.Project, in *Request) {
			must(t, os.Rename(p.Dir(), filepath.Join(p.Root, "elsewhere")))
		}},
		{name: "MarkerIsFile", id: "place.project", status: Fail, measured: "not a directory", damage: func(t *testing.T, p project.Project, in *Request) {
			in.Start = inside(t, p)
			must(t, os.WriteFile(filepath.Join(in.Start, project.Marker), nil, 0o644))
		}},
		{name: "MarkerLeadsNowhere", id: "place.project", status: Fail, measured: "symbolic link to gone", damage: func(t *testing.T, p project.Project, in *Request) {
			in.Start = inside(t, p)
			must(t, os.Symlink("gone", filepath.Join(in.Start, project.Marker)))
		}},
		{name: "DatabaseGone", id: "place.database", status: Fail, measured: "there was one", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Rename(p.Database(), filepath.Join(p.Root, "gone.db")))
		}},
		{name: "DatabaseNotCloned", id: "place.database", status: Warn, measured: "folders of sessions", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.RemoveAll(p.Data()))
		}},
		{name: "DatabaseEmpty", id: "place.database", status: Fail, measured: "0 bytes", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Truncate(p.Database(), 0))
		}},
		{name: "DatabaseIsText", id: "place.database", status: Fail, measured: "not a SQLite database", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.WriteFile(p.Database(), []byte(strings.Repeat("some text ", 1000)), 0o644))
		}},
		{name: "DatabaseIsShortText", id: "place.database", status: Fail, measured: "not a SQLite database", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.WriteFile(p.Database(), []byte("hm"), 0o644))
		}},
		{name: "FirstPageOverwritten", id: "place.database", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			overwrite(t, p.Database(), 0, []byte(strings.Repeat("\xa5", 4096)))
		}},
		{name: "HeaderOverwritten", id: "place.database", status: Fail, measured: "first 100 bytes", damage: func(t *testing.T, p project.Project, _ *Request) {
			overwrite(t, p.Database(), 16, []byte(strings.Repeat("\xff", 84)))
		}},
		{name: "DatabaseIsFolder", id: "place.database", status: Fail, measured: "is a folder", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Remove(p.Database()))
			must(t, os.Mkdir(p.Database(), 0o755))
		}},
		{name: "DatabaseUnreadable", id: "place.database", status: Fail, nobody: true, measured: "permission denied", damage: func(t *testing.T, p project.Project, _ *Request) {
			openUp(t, p)
			must(t, os.Chmod(p.Database(), 0o200))
			giveAway(t, p.Database())
		}},
		{name: "OtherApplication", id: "place.database", status: Fail, measured: "another program", damage: func(t *testing.T, p project.Project, _ *Request) {
			raw(t, p.Database(), "PRAGMA application_id = 252006673")
		}},
		{name: "OtherTables", id: "place.database", status: Fail, measured: "another program", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Remove(p.Database()))
			raw(t, p.Database(), "CREATE TABLE photos (id INTEGER PRIMARY KEY, name TEXT)")
		}},
		{name: "LogTableGone", id: "place.database", status: Fail, measured: "another program", damage: sqlDamage("DROP TABLE orchestration_events")},
		{name: "StoreInMainWorktree", id: "place.stores", status: Warn, damage: func(t *testing.T, p project.Project, in *Request) {
			git(t, p.Root, "init", "-q", ".")
			git(t, p.Root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x")
			tree := filepath.Join(filepath.Dir(p.Root), "tree")
			git(t, p.Root, "worktree", "add", "-q", tree, "-b", "f")
			must(t, os.CopyFS(filepath.Join(tree, ".ocr"), os.DirFS(p.Dir())))
			in.Start = tree
		}},
		{name: "StoreInOtherWorktree", id: "place.stores", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			git(t, p.Root, "init", "-q", ".")
			git(t, p.Root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x")
			tree := filepath.Join(filepath.Dir(p.Root), "tree")
			git(t, p.Root, "worktree", "add", "-q", tree, "-b", "f")
			must(t, os.CopyFS(filepath.Join(tree, ".ocr"), os.DirFS(p.Dir())))
		}},
		{name: "StoreFurtherUp", id: "place.stores", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.CopyFS(filepath.Join(filepath.Dir(p.Root), ".ocr"), os.DirFS(p.Dir())))
		}},
		{name: "FolderReadOnly", id: "place.rights", status: Fail, nobody: true, damage: func(t *testing.T, p project.Project, _ *Request) {
			openUp(t, p)
			must(t, os.Chmod(p.Data(), 0o555))
			t.Cleanup(func() { must(t, os.Chmod(p.Data(), 0o755)) })
		}},
		{name: "FileReadOnly", id: "place.rights", status: Fail, nobody: true, damage: func(t *testing.T, p project.Project, _ *Request) {
			openUp(t, p)
			must(t, os.Chmod(p.Database(), 0o444))
		}},
		{name: "LogOfAnotherUser", id: "place.owner", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			giveAway(t, p.Database())
		}},
		{name: "LogNotWritable", id: "place.owner", status: Fail, nobody: true, damage: func(t *testing.T, p project.Project, _ *Request) {
			openUp(t, p)
			must(t, os.Chmod(p.Database()+".lock", 0o444))
			if os.Getuid() != 0 {
				t.Skip("only root can take a file from nobody")
			}
			must(t, os.Chown(p.Database()+".lock", 0, 0))
		}},
		{name: "LogIsLink", id: "place.beside", status: Fail, measured: "-wal is a symbolic link", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Symlink("elsewhere", p.Database()+"-wal"))
		}},
		{name: "LogIsFolder", id: "place.beside", status: Fail, measured: "-wal is a folder", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Mkdir(p.Database()+"-wal", 0o755))
		}},
		{name: "IndexOfLogIsLink", id: "place.beside", status: Fail, measured: "-shm is a symbolic link", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Symlink("elsewhere", p.Database()+"-shm"))
		}},
		{name: "LockIsFolder", id: "place.beside", status: Fail, measured: ".lock is a folder", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.RemoveAll(p.Database()+".lock"))
			must(t, os.Mkdir(p.Database()+".lock", 0o755))
		}},
		{name: "LockIsLink", id: "place.beside", status: Fail, measured: "it stops restore, snapshot, upgrades and vacuum", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.RemoveAll(p.Database()+".lock"))
			must(t, os.Symlink("elsewhere", p.Database()+".lock"))
		}},
		{name: "LockIsPipe", id: "place.beside", status: Fail, measured: ".lock is a pipe", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.RemoveAll(p.Database()+".lock"))
			makePipe(t, p.Database()+".lock")
		}},
		{name: "GitignoreEmpty", id: "place.beside", status: Warn, measured: ".gitignore has no line *", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Truncate(filepath.Join(p.Data(), ".gitignore"), 0))
		}},
		{name: "GitignoreIsLink", id: "place.beside", status: Warn, measured: ".gitignore is a symbolic link", damage: func(t *testing.T, p project.Project, _ *Request) {
			path := filepath.Join(p.Data(), ".gitignore")
			must(t, os.Rename(path, filepath.Join(p.Root, "mine")))
			must(t, os.Symlink(filepath.Join(p.Root, "mine"), path))
		}},
		{name: "GitignoreIsFolder", id: "place.beside", status: Warn, measured: ".gitignore is a folder", damage: func(t *testing.T, p project.Project, _ *Request) {
			path := filepath.Join(p.Data(), ".gitignore")
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o755))
		}},
		{name: "SessionsLeadOut", id: "place.sessions", status: Fail, measured: "leads out of the project", damage: func(t *testing.T, p project.Project, _ *Request) {
			moved := filepath.Join(p.Root, "moved")
			must(t, os.Rename(p.Sessions(), moved))
			must(t, os.Symlink(moved, p.Sessions()))
		}},
		{name: "SessionsOfAnotherUser", id: "place.sessions", status: Fail, nobody: true, measured: "belongs to user 0", damage: func(t *testing.T, p project.Project, _ *Request) {
			openUp(t, p)
			if os.Getuid() != 0 {
				t.Skip("only root can take a folder from nobody")
			}
			must(t, os.Chown(p.Sessions(), 0, 0))
		}},
		{name: "SessionsReadOnly", id: "place.sessions", status: Fail, nobody: true, measured: "cannot be written", damage: func(t *testing.T, p project.Project, _ *Request) {
			openUp(t, p)
			must(t, os.Chmod(p.Sessions(), 0o555))
			t.Cleanup(func() { must(t, os.Chmod(p.Sessions(), 0o755)) })
		}},
		{name: "SessionsImmutable", id: "place.sessions", status: Fail, measured: "nobody may change", damage: func(t *testing.T, p project.Project, _ *Request) {
			chattr := func(how string) error { return exec.Command("chattr", how, p.Sessions()).Run() }
			if err := chattr("+i"); err != nil {
				t.Skip("this system marks no folder: ", err)
			}
			t.Cleanup(func() { must(t, chattr("-i")) })
		}},
		{name: "DiskFull", id: "place.space", status: Fail, damage: func(t *testing.T, p project.Project, in *Request) {
			in.Start = onSmallDisk(t, p, "size=12m")
		}},
		{name: "NoRoomForSnapshot", id: "place.space", status: Warn, measured: "does not fit", damage: func(t *testing.T, p project.Project, in *Request) {
			raw(t, p.Database(), "INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'done', zeroblob(20000000))")
			in.Start = onSmallDisk(t, p, "size=45m")
		}},
		{name: "StepMissingInSharedLedger", id: "schema.shared_ledger", status: Fail, measured: "without a row for 7", damage: sqlDamage(
			"DELETE FROM schema_version WHERE version = 7")},
		{name: "SharedLedgerEmpty", id: "schema.shared_ledger", status: Fail, damage: sqlDamage("DELETE FROM schema_version")},
		{name: "SharedLedgerOfLaterRelease", id: "schema.shared_ledger", status: Warn, damage: sqlDamage(
			"INSERT INTO schema_version (version, description) VALUES (15, 'later')")},
		{name: "Dirty", id: "schema.own_ledger", status: Warn, measured: "clears the mark", damage: sqlDamage("UPDATE schema_migrations SET dirty = 1")},
		{name: "OwnLedgerEmpty", id: "schema.own_ledger", status: Fail, damage: sqlDamage("DELETE FROM schema_migrations")},
		{name: "OwnLedgerTwoRows", id: "schema.own_ledger", status: Fail, damage: sqlDamage("INSERT INTO schema_migrations VALUES (3, 0)")},
		{name: "OwnLedgerText", id: "schema.own_ledger", status: Fail, damage: sqlDamage("UPDATE schema_migrations SET version = 'abc'")},
		{name: "OwnLedgerBehind", id: "schema.version", status: Fail, measured: "process_identity", damage: sqlDamage("UPDATE schema_migrations SET version = 10")},
		{name: "OwnTableGone", id: "schema.tables", status: Fail, measured: "process_identity", damage: sqlDamage("DROP TABLE process_identity")},
		{name: "Newer", id: "schema.version", status: Fail, damage: sqlDamage("UPDATE schema_migrations SET version = version + 1")},
		{name: "Older", id: "schema.version", status: Warn, measured: "upgrades it", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Remove(p.Database()))
			must(t, os.RemoveAll(p.Sessions()))
			oldDatabase(t, p.Database(), 13)
		}},
		{name: "TableGone", id: "schema.tables", status: Fail, measured: "chat_messages", damage: sqlDamage("DROP TABLE chat_messages")},
		{name: "UsedTableGone", id: "schema.tables", status: Fail, measured: "markdown_artifacts", damage: sqlDamage("DROP TABLE markdown_artifacts")},
		{name: "ColumnGone", id: "schema.columns", status: Fail, measured: "user_notes.updated_at", damage: sqlDamage("ALTER TABLE user_notes DROP COLUMN updated_at")},
		{name: "CheckGone", id: "schema.columns", status: Fail, damage: rewrite("table", "user_notes", "'session', ", "")},
		{name: "ForeignKeyWeaker", id: "schema.columns", status: Fail, damage: rewrite("table", "orchestration_events", "RESTRICT", "CASCADE")},
		{name: "IndexGone", id: "schema.indexes", status: Fail, measured: "idx_events_type", damage: sqlDamage("DROP INDEX idx_events_type")},
		{name: "IndexOnOtherColumn", id: "schema.indexes", status: Fail, damage: sqlDamage(
			"DROP INDEX idx_findings_severity", "CREATE INDEX idx_findings_severity ON review_findings(title)")},
		{name: "CloseGuardGone", id: "schema.triggers", status: Fail, measured: "trg_sessions_close_guard", damage: sqlDamage("DROP TRIGGER trg_sessions_close_guard")},
		{name: "TriggerWeaker", id: "schema.triggers", status: Fail, damage: sqlDamage("DROP TRIGGER trg_sessions_born_active",
			"CREATE TRIGGER trg_sessions_born_active BEFORE INSERT ON sessions WHEN 0 BEGIN SELECT RAISE(ABORT, 'a session is born active'); END")},
		{name: "ViewGone", id: "schema.views", status: Fail, measured: "session_completeness", damage: sqlDamage("DROP VIEW session_completeness")},
		{name: "ViewOther", id: "schema.views", status: Fail, damage: sqlDamage("DROP VIEW open_findings", "CREATE VIEW open_findings AS SELECT 1 AS x")},
		{name: "StrangeTrigger", id: "schema.extra", status: Warn, damage: sqlDamage(
			"CREATE TRIGGER mine AFTER INSERT ON sessions BEGIN SELECT 1; END")},
		{name: "StrangeColumn", id: "schema.extra", status: Warn, measured: "sessions.mood", damage: sqlDamage("ALTER TABLE sessions ADD COLUMN mood TEXT")},
		{name: "PageZeroed", id: "data.integrity", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			overwrite(t, p.Database(), pageOf(t, p.Database(), "review_findings"), make([]byte, 4096))
		}},
		{name: "UsedPageZeroed", id: "data.integrity", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			overwrite(t, p.Database(), pageOf(t, p.Database(), "orchestration_events"), make([]byte, 4096))
		}},
		{name: "IndexPageOverwritten", id: "data.integrity", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			overwrite(t, p.Database(), pageOf(t, p.Database(), "idx_events_session"), []byte(strings.Repeat("x", 4096)))
		}},
		{name: "SchemaPageTruncated", id: "data.integrity", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Truncate(p.Database(), 5000))
		}},
		{name: "Truncated", id: "data.integrity", status: Fail, measured: "lacks 1000", damage: func(t *testing.T, p project.Project, _ *Request) {
			info, err := os.Stat(p.Database())
			must(t, err)
			must(t, os.Truncate(p.Database(), info.Size()-1000))
		}},
		{name: "FreeListBroken", id: "data.integrity", status: Fail, measured: "list of free pages", damage: func(t *testing.T, p project.Project, _ *Request) {
			freePages(t, p)
			overwrite(t, p.Database(), 32, []byte("\x00\x0f\x42\x3f"))
		}},
		{name: "FreeListTooShort", id: "data.integrity", status: Fail, measured: "list of free pages", damage: func(t *testing.T, p project.Project, _ *Request) {
			freePages(t, p)
			overwrite(t, p.Database(), 36, []byte("\x00\x00\x00\x63"))
		}},
		{name: "FreePageInUse", id: "data.integrity", status: Fail, measured: "list of free pages", damage: func(t *testing.T, p project.Project, in *Request) {
			in.Deep = true
			freePages(t, p)
			trunk := readAt(t, p.Database(), 32)
			used := pageOf(t, p.Database(), "user_notes")/4096 + 1
			overwrite(t, p.Database(), (trunk-1)*4096+8, binary.BigEndian.AppendUint32(nil, uint32(used)))
		}},
		{name: "IndexRowGone", id: "data.integrity", status: Fail, damage: behindIndex("idx_findings_severity",
			// Of a round that is not complete: the log has no numbers for it.
			"INSERT INTO review_rounds (id, session_id, round_number) VALUES (60, 'going', 1); "+
				"INSERT INTO reviewer_outputs (id, round_id, reviewer_type, file_path) VALUES (60, 60, 'a', 'x'); "+
				"INSERT INTO review_findings (reviewer_output_id, title, severity) VALUES (60, 'not in the index', 'low')")},
		{name: "OrphanArtifact", id: "data.foreign_keys", status: Fail, damage: sqlDamage(
			"INSERT INTO review_findings (reviewer_output_id, title, severity) VALUES (901, 'lost finding', 'low')")},
		{name: "OrphanEvent", id: "data.foreign_keys", status: Fail, measured: "2; events of sessions without a row, which are kept: away, gone", damage: sqlDamage(
			"INSERT INTO orchestration_events (session_id, event_type) VALUES ('gone', 'session_created'), ('away', 'session_created'), ('gone', 'session_resumed')")},
		{name: "OrphansOfPeople", id: "data.foreign_keys", status: Warn, measured: "2, all of them what people wrote", damage: sqlDamage(
			"INSERT INTO review_rounds (id, session_id, round_number) VALUES (99, 'gone', 1)",
			"INSERT INTO user_round_progress (round_id, status) VALUES (99, 'in_progress')",
			"INSERT INTO chat_messages (conversation_id, role, content) VALUES ('gone', 'user', 'mine')")},
		{name: "ManyOrphans", id: "data.foreign_keys", status: Fail, measured: "300", damage: sqlDamage(
			`WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300)
			INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) SELECT 'gone', 'final', i, 'x' FROM n`)},
		{name: "Duplicates", id: "data.duplicates", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			index := value(t, p.Database(), "SELECT sql FROM sqlite_schema WHERE name = 'idx_markdown_artifacts_logical'")
			raw(t, p.Database(), "DROP INDEX idx_markdown_artifacts_logical")
			for range 3 {
				raw(t, p.Database(), "INSERT INTO markdown_artifacts (session_id, artifact_type, file_path, content) VALUES ('done', 'context', 'c.md', 'x')")
			}
			raw(t, p.Database(), strings.Replace(index, "UNIQUE ", "", 1))
			rewrite("index", "idx_markdown_artifacts_logical", "CREATE INDEX", "CREATE UNIQUE INDEX")(t, p, nil)
		}},
		{name: "FindingsGone", id: "data.results", status: Fail, damage: sqlDamage("DELETE FROM review_findings")},
		{name: "VerdictChanged", id: "data.results", status: Fail, damage: sqlDamage("UPDATE review_rounds SET verdict = 'APPROVE' WHERE session_id = 'done' AND round_number = 2")},
		{name: "MapFilesGone", id: "data.results", status: Fail, damage: sqlDamage("DELETE FROM map_files")},
		{name: "LogCutAtStart", id: "data.log_gaps", status: Warn, measured: "1 events were written and are not there: ids 1", damage: func(t *testing.T, p project.Project, _ *Request) {
			around(t, p.Database(), "trg_events_never_deleted", "DELETE FROM orchestration_events WHERE id = 1")
		}},
		{name: "LogCutInside", id: "data.log_gaps", status: Warn, measured: "3 events were written and are not there: ids 3-4, 6", damage: func(t *testing.T, p project.Project, _ *Request) {
			around(t, p.Database(), "trg_events_never_deleted", "DELETE FROM orchestration_events WHERE id IN (3, 4, 6)")
		}},
		{name: "LogCutAtEnd", id: "data.log_gaps", status: Warn, measured: "2 events", damage: func(t *testing.T, p project.Project, _ *Request) {
			raw(t, p.Database(), "INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('going', 'phase_transition', 'context', 1, 1), ('going', 'phase_transition', 'context', 1, 1)")
			around(t, p.Database(), "trg_events_never_deleted", "DELETE FROM orchestration_events WHERE id > (SELECT MAX(id) - 2 FROM orchestration_events)")
		}},
		{name: "SessionErased", id: "data.log_gaps", status: Warn, measured: "folders with results of sessions without a row: chart", damage: func(t *testing.T, p project.Project, _ *Request) {
			around(t, p.Database(), "trg_events_never_deleted", "PRAGMA foreign_keys = ON", "DELETE FROM orchestration_events WHERE session_id = 'chart'", "DELETE FROM sessions WHERE id = 'chart'")
		}},
		{name: "TimeIsText", id: "data.times", status: Fail, damage: sqlDamage("UPDATE sessions SET updated_at = 'yesterday' WHERE id = 'done'")},
		{name: "HeartbeatIsText", id: "data.times", status: Fail, damage: sqlDamage("UPDATE command_executions SET last_heartbeat_at = 'soon' WHERE uid = 'living'")},
		{name: "TimeAhead", id: "data.times", status: Warn, damage: sqlDamage(
			"UPDATE command_executions SET last_heartbeat_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 day') WHERE uid = 'living'")},
		{name: "MetadataBroken", id: "data.metadata", status: Fail, damage: sqlDamage(
			`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata) VALUES ('going', 'session_resumed', 'context', 1, 1, '{"half":')`)},
		{name: "PhaseUnknown", id: "data.values", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			around(t, p.Database(), "trg_sessions_closed_stands", "UPDATE sessions SET current_phase = 'lunch' WHERE id = 'done'")
		}},
		{name: "PhaseNumberIsText", id: "data.values", status: Fail, damage: sqlDamage("UPDATE sessions SET phase_number = 'first' WHERE id = 'done'")},
		{name: "NoID", id: "data.values", status: Fail, damage: sqlDamage(
			"INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES (NULL, 'b', 'review', 'd')")},
		{name: "SequenceAtItsEnd", id: "data.sequences", status: Fail, measured: "in command_executions", damage: sqlDamage(
			"UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'command_executions'")},
		{name: "HighestIDTaken", id: "data.sequences", status: Fail, measured: "in command_executions", damage: sqlDamage(
			"INSERT INTO command_executions (id, command, started_at, finished_at, exit_code) VALUES (9223372036854775807, 'x', datetime('now'), datetime('now'), 0)",
			"DELETE FROM sqlite_sequence WHERE name = 'command_executions'")},
		{name: "RollbackJournal", id: "data.journal_mode", status: Warn, damage: sqlDamage("PRAGMA journal_mode = DELETE")},
		{name: "ClosedWithoutProof", id: "lifecycle.unproven", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			raw(t, p.Database(), "UPDATE command_executions SET finished_at = datetime('now'), exit_code = 0 WHERE uid = 'living'")
			around(t, p.Database(), "trg_sessions_close_guard", "UPDATE sessions SET status = 'closed', current_phase = 'complete' WHERE id = 'going'")
		}},
		{name: "ClosedByAnOldReason", id: "lifecycle.unproven", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			raw(t, p.Database(), "UPDATE command_executions SET finished_at = datetime('now'), exit_code = 0 WHERE uid = 'living'")
			around(t, p.Database(), "trg_sessions_close_guard",
				"INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('going', 'session_aborted', 'context', 1, 1), ('going', 'session_resumed', 'context', 1, 1)",
				"UPDATE sessions SET status = 'closed', current_phase = 'complete' WHERE id = 'going'")
		}},
		{name: "ClosedAndHidden", id: "lifecycle.unproven", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			around(t, p.Database(), "trg_sessions_born_active",
				"INSERT INTO sessions (id, branch, status, workflow_type, current_phase, session_dir) VALUES ('hidden', 'b', 'closed', 'review', 'complete', '"+strings.Repeat("x", 300)+"')")
		}},
		{name: "PhasePastTheLog", id: "lifecycle.drift", status: Fail, damage: sqlDamage("UPDATE sessions SET current_phase = 'synthesis' WHERE id = 'going'")},
		{name: "RoundBelowTheLog", id: "lifecycle.drift", status: Warn, measured: "lower number", damage: sqlDamage("UPDATE sessions SET current_round = 1 WHERE id = 'done'")},
		{name: "RunBelowTheLog", id: "lifecycle.drift", status: Warn, measured: "lower number", damage: sqlDamage("UPDATE sessions SET current_map_run = 1 WHERE id = 'chart'")},
		{name: "RoundAndPhase", id: "lifecycle.drift", status: Fail, damage: sqlDamage("UPDATE sessions SET current_phase = 'synthesis' WHERE id = 'going'",
			"UPDATE sessions SET current_round = 1 WHERE id = 'done'")},
		{name: "CompletedTwice", id: "lifecycle.terminals", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			around(t, p.Database(), "trg_events_one_terminal", `INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata)
				SELECT session_id, event_type, phase, phase_number, round, metadata FROM orchestration_events
				WHERE session_id = 'done' AND event_type = 'round_completed' AND round = 1`)
		}},
		{name: "ResultGone", id: "lifecycle.artifacts", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Remove(filepath.Join(p.Sessions(), "done", "rounds", "round-1", "round-meta.json")))
		}},
		{name: "ResultOther", id: "lifecycle.artifacts", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			path := filepath.Join(p.Sessions(), "done", "rounds", "round-2", "round-meta.json")
			must(t, os.WriteFile(path, []byte(`{"schema_version":1,"verdict":"APPROVE","reviewers":[]}`), 0o644))
		}},
		{name: "MapUnreadable", id: "lifecycle.artifacts", status: Fail, damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.WriteFile(filepath.Join(p.Sessions(), "chart", "map", "runs", "run-2", "map-meta.json"), []byte(`{"half":`), 0o644))
		}},
		{name: "CompleteButOpen", id: "lifecycle.unfinished", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			endGoing(t, p)
			raw(t, p.Database(), session("old", "complete", "-2 hours"), `INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, created_at) VALUES
				('old', 'session_created', 'context', 1, 1, datetime('now', '-3 hours')),
				('old', 'phase_transition', 'synthesis', 7, 1, datetime('now', '-3 hours'))`,
				"UPDATE sessions SET current_phase = 'synthesis' WHERE id = 'old'",
				`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata, created_at)
				VALUES ('old', 'round_completed', 'synthesis', 7, 1, '{"verdict":"APPROVE","source":"reconciled"}', datetime('now', '-2 hours'))`,
				`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, created_at)
				VALUES ('old', 'phase_transition', 'complete', 8, 1, datetime('now', '-2 hours'))`,
				"UPDATE sessions SET current_phase = 'complete' WHERE id = 'old'")
			must(t, os.MkdirAll(filepath.Join(p.Sessions(), "old", "rounds", "round-1"), 0o755))
			must(t, os.WriteFile(filepath.Join(p.Sessions(), "old", "rounds", "round-1", "final.md"), []byte("x"), 0o644))
		}},
		{name: "Stale", id: "lifecycle.stale", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			endGoing(t, p)
			raw(t, p.Database(), session("old", "context", "-8 days"), created("old", "datetime('now', '-8 days')"))
		}},
		{name: "StaleInISO", id: "lifecycle.stale", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			endGoing(t, p)
			raw(t, p.Database(), session("old", "context", "-8 days"), created("old", "strftime('%Y-%m-%dT%H:%M:%S+02:00', 'now', '-8 days')"))
		}},
		{name: "Stranded", id: "lifecycle.stranded", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			endGoing(t, p)
			raw(t, p.Database(), session("old", "context", "-2 hours"), created("old", "datetime('now', '-2 hours')"))
		}},
		{name: "StrandedAfterAShortLease", id: "lifecycle.stranded", status: Warn, damage: func(t *testing.T, p project.Project, in *Request) {
			settle(in, "OCR_FORWARD_RESUME_LEASE_SECONDS", "60")
			endGoing(t, p)
			raw(t, p.Database(), session("old", "context", "-2 minutes"), created("old", "datetime('now', '-2 minutes')"))
		}},
		{name: "TwoActive", id: "lifecycle.active", status: Warn, damage: sqlDamage(session("second", "context", "-0 seconds"), created("second", "datetime('now')"))},
		{name: "ProcessDead", id: "processes.orphans", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			raw(t, p.Database(), fmt.Sprintf(`INSERT INTO command_executions (uid, command, pid, started_at, last_heartbeat_at)
				VALUES ('dead', 'session-instance:x-1', %d, datetime('now', '-1 hour'), datetime('now', '-1 hour'))`, deadPID(t)))
		}},
		{name: "ProcessStalled", id: "processes.stalled", status: Warn, damage: func(t *testing.T, p project.Project, in *Request) {
			settle(in, "OCR_AGENT_HEARTBEAT_SECONDS", "1")
			raw(t, p.Database(), fmt.Sprintf(`UPDATE command_executions SET pid = %d, last_heartbeat_at = datetime('now', '-1 hour')
				WHERE uid = 'living'`, os.Getpid()), `INSERT INTO process_identity (execution_id, host, boot_id, pid_space, pid, pid_started_ms, pid_started_ticks)
				SELECT id, NULL, NULL, NULL, pid, NULL, `+startTicks(t)+` FROM command_executions WHERE uid = 'living'`)
		}},
		{name: "ProcessOfAnotherHost", id: "processes.unknown", status: Warn, damage: sqlDamage(
			"UPDATE command_executions SET last_heartbeat_at = datetime('now', '-1 hour') WHERE uid = 'living'",
			"INSERT INTO process_identity (execution_id, host, boot_id, pid) SELECT id, 'elsewhere', 'other', pid FROM command_executions WHERE uid = 'living'")},
		{name: "ProcessWithoutID", id: "processes.unknown", status: Warn, damage: sqlDamage(
			"UPDATE command_executions SET pid = NULL, last_heartbeat_at = datetime('now', '-1 hour') WHERE uid = 'living'")},
		{name: "ProcessOfClosedSession", id: "processes.closed", status: Warn, damage: sqlDamage(
			"INSERT INTO command_executions (uid, command, workflow_id, pid, last_heartbeat_at) VALUES ('late', 'session-instance:x-1', 'done', 1, datetime('now'))")},
		{name: "LargeLog", id: "housekeeping.wal", status: Warn, measured: "MiB", damage: func(t *testing.T, p project.Project, _ *Request) {
			reader, err := openRaw(p.Database())
			must(t, err)
			t.Cleanup(func() { must(t, reader.Close()) })
			_, err = reader.Exec("BEGIN; SELECT count(*) FROM sessions")
			must(t, err)
			writer, err := openRaw(p.Database())
			must(t, err)
			t.Cleanup(func() { must(t, writer.Close()) })
			_, err = writer.Exec("INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'done', zeroblob(12000000))")
			must(t, err)
		}},
		{name: "SnapshotEmpty", id: "housekeeping.snapshots", status: Warn, measured: "1 of 2", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.WriteFile(p.Database()+".bak.v13", nil, 0o644))
		}},
		{name: "SnapshotTruncated", id: "housekeeping.snapshots", status: Warn, measured: "1 of 1", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.Truncate(p.Database()+".bak.v14", 8192))
		}},
		{name: "SnapshotText", id: "housekeeping.snapshots", status: Warn, measured: "1 of 1", damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.WriteFile(p.Database()+".bak.v14", []byte("hm"), 0o644))
		}},
		{name: "SnapshotDamagedInside", id: "housekeeping.snapshots", status: Warn, measured: "1 of 1", damage: func(t *testing.T, p project.Project, in *Request) {
			in.Deep = true
			path := p.Database() + ".bak.v14"
			overwrite(t, path, pageOf(t, path, "review_findings"), make([]byte, 4096))
		}},
		{name: "TemporaryFileLeft", id: "housekeeping.temps", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			path := p.Database() + ".bak.v13.partial"
			must(t, os.WriteFile(path, []byte("half"), 0o644))
			old := time.Now().Add(-3 * time.Hour)
			must(t, os.Chtimes(path, old, old))
		}},
		{name: "ArtifactLeft", id: "housekeeping.temps", status: Warn, measured: "2", damage: func(t *testing.T, p project.Project, _ *Request) {
			dir := filepath.Join(p.Sessions(), "done", "rounds", "round-1")
			must(t, os.MkdirAll(dir, 0o755))
			old := time.Now().Add(-3 * time.Hour)
			for _, purpose := range []string{"new", "old"} {
				path := filepath.Join(dir, ".round-meta.json."+rand.Text()+"."+purpose)
				must(t, os.WriteFile(path, []byte("{}"), 0o644))
				must(t, os.Chtimes(path, old, old))
			}
			must(t, os.WriteFile(filepath.Join(dir, ".round-meta.json."+rand.Text()+".new"), []byte("{}"), 0o644))
		}},
		{name: "MuchIdle", id: "housekeeping.growth", status: Warn, measured: "idle", damage: sqlDamage(
			"INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'done', zeroblob(20000000))", "DELETE FROM user_notes")},
		{name: "NoGit", id: "environment.git", status: Warn, damage: func(t *testing.T, _ project.Project, in *Request) {
			settle(in, "PATH", t.TempDir())
		}},
		{name: "SettingIsNoNumber", id: "environment.settings", status: Warn, damage: func(_ *testing.T, _ project.Project, in *Request) {
			settle(in, "OCR_AGENT_HEARTBEAT_SECONDS", "soon")
		}},
		{name: "ConfigurationBroken", id: "environment.settings", status: Warn, damage: func(t *testing.T, p project.Project, _ *Request) {
			must(t, os.WriteFile(p.Config(), []byte("runtime: [\n"), 0o644))
		}},
	}
}

// TestDamageList breaks a sound project in one way after the other: exactly
// the check of that thing turns red, no other one, and looking changes
// nothing.
func TestDamageList(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range damages() {
		seen[c.id] = true
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := soundProject(t)
			in := Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}
			c.damage(t, p, &in)
			before := snapshotOf(t, p.Root)
			var checks []Check
			if c.nobody {
				checks = examineAsNobody(t, p.Root)
			} else {
				checks = examine(t, in)
			}
			if after := snapshotOf(t, p.Root); after != before && !in.ProbeWrite {
				t.Error("looking changed something")
			}
			hold(t, checks, c.id, c.status)
			for _, check := range checks {
				if check.ID == c.id && !strings.Contains(check.Measured, c.measured) {
					t.Errorf("measured %q, want a part %q", check.Measured, c.measured)
				}
			}
		})
	}
	for _, s := range specs() {
		if !seen[s.id] && !provenElsewhere[s.id] {
			t.Errorf("%s: no damage turns it red (add a case to TestDamageList)", s.id)
		}
	}
}

// provenElsewhere are checks with a red state in TestEngineChecks or
// TestFilesystem; environment.tools has none: it only informs.
var provenElsewhere = map[string]bool{
	"engine.version": true, "engine.options": true, "engine.settings": true, "engine.write": true,
	"place.filesystem": true, "environment.tools": true,
}

// hold says that exactly one check is not green.
func hold(t *testing.T, checks []Check, id string, status Status) {
	t.Helper()
	found := false
	for _, c := range checks {
		if c.ID == id {
			found = true
			if c.Status != status {
				t.Errorf("%s is %s, want %s: %s", c.ID, c.Status, status, c.Measured)
			}
			if c.Next == "" {
				t.Errorf("%s: no next step", c.ID)
			}
		} else if c.Status != OK && c.Status != Skip {
			t.Errorf("%s is %s too: %s %v", c.ID, c.Status, c.Measured, c.Rows)
		}
		said := strings.Join([]string{c.Measured, c.Expected, c.Why, c.Next}, "\n")
		if c.Measured == "" || c.Expected == "" || c.Why == "" || destructive.MatchString(said) || strings.Contains(c.Next, "\n") {
			t.Errorf("%s: not a whole finding, or bad advice: %+v", c.ID, c)
		}
	}
	if !found && id != "" {
		t.Errorf("%s was not looked at", id)
	}
}

// TestSound is the healthy twin: every check is OK, but for the probe that was
// not asked for, and nothing changes.
func TestSound(t *testing.T) {
	for _, deep := range []bool{false, true} {
		t.Run(fmt.Sprintf("Deep=%v", deep), func(t *testing.T) {
			p := soundProject(t)
			before := snapshotOf(t, p.Root)
			checks := examine(t, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram(), Deep: deep})
			if snapshotOf(t, p.Root) != before {
				t.Error("looking changed something")
			}
			hold(t, checks, "", "")
			for _, c := range checks {
				if c.Status != OK && c.ID != "engine.write" {
					t.Errorf("%s is %s: %s", c.ID, c.Status, c.Measured)
				}
			}
		})
	}
	t.Run("BesideAWriter", func(t *testing.T) {
		p := soundProject(t)
		writer, err := openRaw(p.Database())
		must(t, err)
		t.Cleanup(func() { must(t, writer.Close()) })
		_, err = writer.Exec("BEGIN IMMEDIATE; INSERT INTO user_notes (target_type, target_id, content) VALUES ('session', 'x', 'x')")
		must(t, err)
		hold(t, examine(t, Request{Start: p.Root, Getenv: environment(t), Program: thisProgram()}), "", "")
	})
	t.Run("NoDatabase", func(t *testing.T) {
		root := t.TempDir()
		_, err := project.Init(root)
		must(t, err)
		before := snapshotOf(t, root)
		hold(t, examine(t, Request{Start: root, Getenv: environment(t), Program: thisProgram()}), "", "")
		if snapshotOf(t, root) != before {
			t.Error("looking changed something")
		}
	})
}

func environment(t *testing.T) func(string) string {
	t.Helper()
	dir, err := exec.LookPath("git")
	must(t, err)
	return func(name string) string {
		switch name {
		case "PATH":
			return filepath.Dir(dir)
		case heartbeatSetting:
			return longHeartbeat
		}
		return ""
	}
}

// The sound project is made once and looked at until the last test has ended:
// the process that lives in it stays alive for longer than any run of tests.
const (
	heartbeatSetting = "OCR_AGENT_HEARTBEAT_SECONDS"
	longHeartbeat    = "1800"
)

func settle(in *Request, name, text string) {
	others := in.Getenv
	in.Getenv = func(asked string) string {
		if asked == name {
			return text
		}
		return others(asked)
	}
}

func setPath(in *Request, first string) {
	settle(in, "PATH", first+string(os.PathListSeparator)+in.Getenv("PATH"))
}

func sqlDamage(statements ...string) func(*testing.T, project.Project, *Request) {
	return func(t *testing.T, p project.Project, _ *Request) {
		t.Helper()
		raw(t, p.Database(), statements...)
	}
}

// rewrite changes the text of a schema object and nothing else.
func rewrite(kind, name, old, replacement string) func(*testing.T, project.Project, *Request) {
	return func(t *testing.T, p project.Project, _ *Request) {
		t.Helper()
		raw(t, p.Database(), "PRAGMA writable_schema = ON", fmt.Sprintf(
			"UPDATE sqlite_schema SET sql = replace(sql, '%s', '%s') WHERE type = '%s' AND name = '%s'",
			strings.ReplaceAll(old, "'", "''"), strings.ReplaceAll(replacement, "'", "''"), kind, name))
	}
}

// behindIndex runs a statement that the index does not see.
func behindIndex(index, statement string) func(*testing.T, project.Project, *Request) {
	return func(t *testing.T, p project.Project, _ *Request) {
		t.Helper()
		path := p.Database()
		text := value(t, path, "SELECT sql FROM sqlite_schema WHERE name = '"+index+"'")
		table := value(t, path, "SELECT tbl_name FROM sqlite_schema WHERE name = '"+index+"'")
		root := value(t, path, "SELECT rootpage FROM sqlite_schema WHERE name = '"+index+"'")
		raw(t, path, "PRAGMA writable_schema = ON", "DELETE FROM sqlite_schema WHERE name = '"+index+"'")
		raw(t, path, statement)
		raw(t, path, "PRAGMA writable_schema = ON", fmt.Sprintf(
			"INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('index', '%s', '%s', %s, '%s')",
			index, table, root, strings.ReplaceAll(text, "'", "''")))
	}
}

func overwrite(t *testing.T, path string, offset int64, content []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(content, offset)
	must(t, err)
	must(t, f.Close())
}

// freePages leaves pages in the file that hold nothing.
func freePages(t *testing.T, p project.Project) {
	t.Helper()
	raw(t, p.Database(),
		`WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 60)
		INSERT INTO user_notes (target_type, target_id, content) SELECT 'session', 'done', zeroblob(4000) FROM n`,
		"DELETE FROM user_notes", "PRAGMA wal_checkpoint(TRUNCATE)")
}

// readAt reads one number of four bytes, as the file format stores it.
func readAt(t *testing.T, path string, offset int64) int64 {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	var number [4]byte
	_, err = f.ReadAt(number[:], offset)
	must(t, err)
	return int64(binary.BigEndian.Uint32(number[:]))
}

// pageOf is where the first page of a table or index begins.
func pageOf(t *testing.T, path, name string) int64 {
	t.Helper()
	page, err := strconv.ParseInt(value(t, path, "SELECT rootpage FROM sqlite_schema WHERE name = '"+name+"'"), 10, 64)
	must(t, err)
	return (page - 1) * 4096
}

// inside is a new folder in the project.
func inside(t *testing.T, p project.Project) string {
	t.Helper()
	dir := filepath.Join(p.Root, "inside")
	must(t, os.Mkdir(dir, 0o755))
	return dir
}

// openUp lets everybody into a project that belongs to this user.
func openUp(t *testing.T, p project.Project) {
	t.Helper()
	must(t, filepath.WalkDir(p.Root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if os.Getuid() == 0 {
			if err := os.Chown(path, 65534, 65534); err != nil {
				return err
			}
		}
		return nil
	}))
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
}

// deadPID is the id of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	must(t, cmd.Run())
	return cmd.Process.Pid
}

// endGoing closes the active session of the sound project, so that another
// one can be the only one.
func endGoing(t *testing.T, p project.Project) {
	t.Helper()
	raw(t, p.Database(), "UPDATE command_executions SET finished_at = datetime('now'), exit_code = 0 WHERE uid = 'living'",
		`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round) VALUES ('going', 'session_aborted', 'context', 1, 1)`,
		"UPDATE sessions SET status = 'closed', current_phase = 'complete' WHERE id = 'going'")
}

func session(id, phase, age string) string {
	return fmt.Sprintf(`INSERT INTO sessions (id, branch, workflow_type, current_phase, session_dir, started_at, updated_at)
		VALUES ('%s', 'b', 'review', '%s', '.ocr/sessions/%s', datetime('now', '%s'), datetime('now', '%s'))`, id, phase, id, age, age)
}

func created(id, at string) string {
	return fmt.Sprintf(`INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, created_at)
		VALUES ('%s', 'session_created', 'context', 1, 1, %s)`, id, at)
}

// oldDatabase makes an empty database as it is after the step version, from
// the files of the schema.
func oldDatabase(t *testing.T, path string, version int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "db", "schema", "*.up.sql"))
	must(t, err)
	raw(t, path, "PRAGMA journal_mode = WAL")
	for _, name := range names[:version] {
		body, err := os.ReadFile(name)
		must(t, err)
		raw(t, path, string(body))
	}
}
