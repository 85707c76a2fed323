package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ocr/db"
)

// dataIntegrity has the engine look at every page, at the list of free pages
// and count the entries of every index. With Deep it also compares each entry
// with its row, and the free pages with those in use.
func dataIntegrity(ctx context.Context, x *exam) result {
	check := "quick_check"
	if x.Deep {
		check = "integrity_check"
	}
	found, err := x.reader.IntegrityFaults(ctx, x.Deep)
	err = db.Classify(x.path, err)
	var rows []Row
	for _, text := range found {
		rows = append(rows, Row{"finding": text})
	}
	switch {
	case db.KindOf(err) == db.KindCorrupt:
		return x.damaged(err)
	case err != nil:
		return unknown(err, "ocr doctor --deep")
	case x.head.short() > 0:
		return x.damaged(nil)
	case db.OnlyFreeList(found):
		return fail("ocr db vacuum", "%s found damage in the list of free pages only: every row can be read, and the next writes would fail or overwrite rows", check).with(rows)
	case len(rows) > 0:
		return fail(recoverCopy, "%s found %d faults", check, len(rows)).with(rows)
	}
	return ok("%s of %d pages: ok", check, x.facts.pageCount)
}

// recoverCopy saves what can be read into a new file and leaves the damaged
// one as it is.
const recoverCopy = "ocr db recover recovered.db"

func (x *exam) damaged(err error) result {
	what := []string{}
	if n := x.head.short(); n > 0 {
		what = append(what, fmt.Sprintf("the file lacks %d of the %d bytes that its header names", n, x.head.pages*x.head.pageSize))
	}
	if err != nil {
		what = append(what, err.Error())
	}
	r := fail(recoverCopy, "%s", strings.Join(what, "; "))
	r.err = err
	return r
}

// manyEvents is the length of a log of which not every time is looked at,
// unless the look is Deep.
const manyEvents = 200_000

// dataTimes tells the worse fault from the lesser.
func dataTimes(ctx context.Context, x *exam) result {
	const next = "ocr doctor --check data.times --json"
	file, scope := "probes/data_times.sql", "all"
	var events int64
	err := x.each(ctx, "facts/last_event.sql", func(row Row) { events = row.number("events") })
	if err != nil {
		return unknown(err, next)
	}
	if events > manyEvents && !x.Deep {
		file, scope = "facts/edge_times.sql", fmt.Sprintf("those at the ends of each session and the newest 100000 of about %d", events)
	}
	unreadable, ahead := 0, 0
	var rows []Row
	err = x.each(ctx, file, func(row Row) {
		if row.text("fault") == "unreadable" {
			unreadable++
		} else {
			ahead++
		}
		if len(rows) < maxRows {
			rows = append(rows, row)
		}
	})
	var r result
	switch {
	case err != nil:
		return unknown(err, next)
	case unreadable > 0:
		r = fail(next, "%d are no time, %d lie ahead", unreadable, ahead)
	case ahead > 0:
		r = warn(next, "%d lie ahead", ahead)
	default:
		return ok("%s can be read", scope)
	}
	r.rows, r.total = rows, unreadable+ahead
	return r
}

// dataForeignKeys names the sessions whose row was lost: no repair touches
// their log, and begin refuses their ids. Where only what people wrote is left,
// and what that hangs on, nothing is broken that a program could mend.
func dataForeignKeys(ctx context.Context, x *exam) result {
	const id = "data.foreign_keys"
	r := result{status: Fail, next: fixDryRun}
	var lost []string
	others := 0 // rows that no person wrote, and nothing of theirs hangs on
	err := x.each(ctx, "probes/"+spec{id: id}.probeFile(), func(row Row) {
		r.total++
		table := row.text("table_name")
		if !slices.Contains(peopleTables, table) && !slices.Contains(derivedTables, table) {
			others++
		}
		if len(r.rows) == maxRows {
			return
		}
		r.rows = append(r.rows, row)
		if session := row.text("session_id"); session != "" {
			lost = append(lost, session)
		}
	})
	switch {
	case err != nil:
		return unknown(err, "ocr doctor --check data")
	case r.total == 0:
		return ok("none")
	}
	r.measured = fmt.Sprintf("%d", r.total)
	if len(lost) > 0 {
		r.measured += "; events of sessions without a row, which are kept: " + strings.Join(lost, ", ")
	}
	if len(lost) == r.total {
		r.next = "ocr doctor --check data.foreign_keys --json"
		return r
	}
	if x.reader.Deletable(ctx) != nil {
		return r // what may go can be told when the schema is as expected
	}
	some, err := x.reader.OrphanArtifactAny(ctx)
	if err != nil || some {
		return r
	}
	r.next = showOrphans
	if others == 0 {
		r.status = Warn
		r.measured += ", all of them what people wrote or what that hangs on: they are kept"
	}
	return r
}

// showOrphans lists every row that refers to a row that is not there.
const showOrphans = "ocr db query 'PRAGMA foreign_key_check'"

// peopleTables hold what people wrote.
var peopleTables = []string{
	"user_file_progress", "user_finding_progress", "user_round_progress", "user_notes", "chat_conversations", "chat_messages",
}

// dataDuplicates: an old file may have them, its upgrade folds them.
func dataDuplicates(ctx context.Context, x *exam) result {
	if x.facts.version > 0 && x.facts.version < db.SharedLatest {
		return offending("data.duplicates", Warn, "ocr db migrate")(ctx, x)
	}
	return offending("data.duplicates", Fail, fixDryRun)(ctx, x)
}

// dataSequences names the tables, because the engine's words name none.
func dataSequences(ctx context.Context, x *exam) result {
	r := offending("data.sequences", Fail, "ocr db query 'SELECT name, seq FROM sqlite_sequence'")(ctx, x)
	var tables []string
	for _, row := range r.rows {
		tables = append(tables, row.text("table_name"))
	}
	if len(tables) > 0 {
		r.measured = "no id left, or hardly any, in " + listed(tables)
	}
	return r
}

// dataJournalMode: the file itself remembers it.
func dataJournalMode(_ context.Context, x *exam) result {
	if !x.head.wal {
		return warn("ocr db migrate", "a rollback journal: the next command that writes switches it back")
	}
	return ok("a write-ahead log")
}
