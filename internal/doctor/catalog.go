package doctor

import (
	"fmt"

	"ocr/internal/lifecycle"
)

// specs declares every check, in the order of a report. To add one, add it
// here; one that is a plain list of offending rows is a file in probes.
func specs() []spec {
	const data = "ocr doctor --check data --json"
	return []spec{
		{
			id: "program.binary", expected: "a file that is there",
			why: "tells which of several programs is speaking", run: programBinary,
		},
		{
			id: "program.path", expected: "PATH leads to this program",
			why: "agents start whichever ocr a shell finds first, and that may be another version", run: programPath,
		},
		{
			id: "place.project", expected: "a directory .ocr here or further up",
			why: "every other command works on the project that is found here", run: placeProject,
		},
		{
			id: "place.database", expected: "a readable SQLite file of this program, or none yet", needs: aProject,
			why: "never made, gone, unreadable and damaged need different answers", run: placeDatabase,
		},
		{
			id: "place.stores", expected: "no second database that could be meant", needs: aProject,
			why: "a worktree or a project further up with its own database shows other sessions", run: placeStores,
		},
		{
			id: "place.rights", expected: "this user may write the folder and the file", needs: aProject,
			why: "without the right to write, commands that read work and all others stop", run: placeRights,
		},
		{
			id: "place.owner", expected: "the files beside the database have its owner", needs: aProject,
			why: "a log that another user made, as with sudo, keeps everybody else out", run: placeOwner,
		},
		{
			id: "place.beside", expected: "files, where the engine, ocr and git look for them", needs: aProject,
			why: "a link, a folder or a pipe in the place of a log stops every command that writes, in that of the lock restore, snapshot, upgrades and vacuum; without the line * in .gitignore git takes the database", run: placeBeside,
		},
		{
			id: "place.sessions", expected: "a folder of the project that this user may write", needs: aProject,
			why: "no session begins and no round is completed without its folder", run: placeSessions,
		},
		{
			id: "place.space", expected: "room for writing and for one snapshot", needs: aProject,
			why: "a full disk stops every command that writes, and no upgrade begins without a snapshot", run: placeSpace,
		},
		{
			id: "place.filesystem", expected: "a file system of one machine", needs: aProject,
			why: "write-ahead logging needs memory that all programs share; over a network it corrupts files", run: placeFilesystem,
		},
		{
			id: "engine.version", expected: "SQLite 3.38.0 or later",
			why: "the schema uses what came with it", run: aboutEngine(engineVersion),
		},
		{
			id: "engine.options", expected: "nothing left out that the schema needs",
			why: "without triggers, views, JSON or foreign keys the rules of the schema do not hold", run: aboutEngine(engineOptions),
		},
		{
			id: "engine.settings", expected: "foreign_keys true, busy_timeout above 0, synchronous 1",
			why: "they hold for one connection only; one without them breaks the rules unseen", run: aboutEngine(engineSettings),
		},
		{
			id: "engine.write", expected: "writes and reads back in journal mode wal",
			why: "only a try shows that this disk does what the engine needs", run: engineWrite,
		},
		{
			id: "schema.shared_ledger", expected: "one row for each shared step", needs: theDatabase, since: 1,
			why: "other programs decide by schema_version which steps to run", run: sharedLedger,
		},
		{
			id: "schema.own_ledger", expected: "one row, not dirty", needs: theDatabase,
			why: "a step marked as unfinished stops every upgrade", run: ownLedger,
			fixes: "clears the mark of an unfinished step where tables and columns are as they should be; makes missing and changed views, triggers and indexes again first",
			fix:   clearMark,
		},
		{
			id: "schema.version", expected: "the version that this program works with", needs: theDatabase,
			why: "a newer file is read only, an older one is upgraded by the next command that writes", run: schemaVersion,
			fixes: "upgrades an older file",
			fix:   openForWriting,
		},
		{
			id: "schema.tables", expected: "every table", needs: theDatabase,
			why: "commands fail, or a fresh table hides that rows are gone", run: asExpected(tables),
		},
		{
			id: "schema.columns", expected: "every column, key and CHECK clause", needs: theDatabase,
			why: "without them rows are stored that no program can work with", run: asExpected(columns),
		},
		{
			id: "schema.indexes", expected: "every index", needs: theDatabase,
			why: "without a unique index duplicates come in, without the others commands become slow", run: asExpected(indexes),
			fixes: "makes missing and changed ones again",
			fix:   recreate(indexes),
		},
		{
			id: "schema.triggers", expected: "every trigger", needs: theDatabase,
			why: "they refuse to record as finished what is not, and to change the log", run: asExpected(triggers),
			fixes: "makes missing and changed ones again",
			fix:   recreate(triggers),
		},
		{
			id: "schema.views", expected: "every view", needs: theDatabase,
			why: "they define what finished means; commands and people read them", run: asExpected(views),
			fixes: "makes missing and changed ones again",
			fix:   recreate(views),
		},
		{
			id: "schema.extra", expected: "nothing that this program does not know", needs: theDatabase,
			why: "a foreign trigger or column may keep rows from being written", run: schemaExtra,
		},
		{
			id: "data.integrity", expected: "no damaged page, free ones included, and indexes that fit their tables", needs: theDatabase, whole: true,
			why: "what is damaged is lost sooner or later, and damage spreads with every write", run: dataIntegrity,
		},
		{
			id: "data.foreign_keys", expected: "no row without what it refers to", needs: theDatabase, since: 1, whole: true, probe: true,
			why: "such rows are never shown and never leave by themselves", run: dataForeignKeys,
			fixes: "takes derived artifact rows away; never sessions, events, processes, or what people wrote",
			fix:   deleteOrphans,
			idle:  nothingDerived,
		},
		{
			id: "data.duplicates", expected: "each document once", needs: theDatabase, since: 1, probe: true,
			why: "one document stored hundreds of times makes the file grow without end", run: dataDuplicates,
			fixes: "keeps the newest of each",
			fix:   foldDuplicates,
		},
		{
			id: "data.log_gaps", expected: "every event that was ever written", needs: theDatabase, since: 1, probe: true,
			why: "the log is the evidence for everything else, and a part of it was taken away or lost", run: dataLogGaps,
		},
		{
			id: "data.results", expected: "rows for readers that say what the log says", needs: theDatabase, since: 8, probe: true,
			why:   "open findings and exports come from these rows, and would tell what was never the result",
			run:   offending("data.results", Fail, fixDryRun),
			fixes: "reads round-meta.json or map-meta.json in again where it says what the log says; triage and notes stay",
			fix:   readAgain,
			idle:  nothingToReadAgain,
		},
		{
			id: "data.times", expected: "times that can be read, none ahead", needs: theDatabase, since: 11, probe: true,
			why: "a time that is none, or lies ahead, is never old: nothing that carries it is swept", run: dataTimes,
		},
		{
			id: "data.metadata", expected: "JSON in every event that has metadata", needs: theDatabase, since: 1, probe: true,
			why: "rounds, runs and leases that stand in it are not seen", run: offending("data.metadata", Fail, data),
		},
		{
			id: "data.values", expected: "known phases, whole numbers from 1", needs: theDatabase, since: 25, probe: true,
			why: "no command can move such a session", run: offending("data.values", Fail, data),
		},
		{
			id: "data.sequences", expected: "a free id for the next row of every table", needs: theDatabase, since: 1, probe: true,
			why: "a table without one takes no row: commands that write end with no_space, whatever room the disk has", run: dataSequences,
		},
		{
			id: "data.journal_mode", expected: "a write-ahead log", needs: theDatabase,
			why: "with a rollback journal readers and writers wait for each other", run: dataJournalMode,
			fixes: "switches the write-ahead log on",
			fix:   openForWriting,
		},
		{
			id: "lifecycle.unproven", expected: "proof for every closed session", needs: theDatabase, since: 25, probe: true,
			why: "it counts as done, and nobody completed it", run: offending("lifecycle.unproven", Fail, "ocr state reconcile --dry-run"),
			fixes: "reconciles: takes the final text on disk as proof, else notes that there is none",
			fix:   reconcile,
			idle:  nothingToReconcile,
		},
		{
			id: "lifecycle.drift", expected: "rows that say what the log says", needs: theDatabase, since: 25, probe: true,
			why: "the row was changed past the log, and programs that read it go on from the wrong place",
			run: lifecycleDrift,
		},
		{
			id: "lifecycle.terminals", expected: "one completion for each round or run", needs: theDatabase, since: 1, probe: true,
			why: "programs that count completions count too many; the log itself is never changed",
			run: offending("lifecycle.terminals", Warn, "ocr doctor --check lifecycle.terminals --json"),
		},
		{
			id: "lifecycle.artifacts", expected: "a file for every completed round, saying what the log says", needs: theDatabase, since: 1,
			why: "the result itself stands in the file; the log only holds its numbers", run: lifecycleArtifacts,
		},
		{
			id: "lifecycle.unfinished", expected: "complete sessions are closed", needs: theDatabase, since: 28,
			why: "they look as if somebody still worked on them", run: leftAlone(sweepDryRun, (*exam).isUnfinished),
			fixes: "sweeps: closes them",
			fix:   sweepSessions,
			idle:  nothingToSweep(lifecycle.SweepFinish),
		},
		{
			id: "lifecycle.stale", expected: fmt.Sprintf("no session left alone for %d days", lifecycle.StaleDays), needs: theDatabase, since: 28,
			why: "nobody will end it, and it stands in the way of choosing the active one", run: leftAlone(sweepDryRun, (*exam).isStale),
			fixes: "sweeps: closes them with that as the reason",
			fix:   sweepSessions,
			idle:  nothingToSweep(lifecycle.SweepStale),
		},
		{
			id: "lifecycle.stranded", expected: "no session left alone for longer than a lease holds", needs: theDatabase, since: 28,
			why: "its agent may have stopped between two phases; somebody can take it over", run: leftAlone("ocr state list --status active", (*exam).isStranded),
		},
		{
			id: "lifecycle.active", expected: "at most one active session", needs: theDatabase, since: 1, probe: true,
			why: "commands that name no session stop and ask", run: offending("lifecycle.active", Warn, "ocr state list --status active"),
		},
		{
			id: "processes.orphans", expected: "no unfinished process that is dead", needs: theDatabase, since: 29,
			why: "its session waits for it", run: afterLook(sweepDryRun, func(j judged) []Row { return j.dead }),
			fixes: "sweeps: ends the row, with the proof noted",
			fix:   sweepProcesses,
		},
		{
			id: "processes.stalled", expected: "a heartbeat from every living process", needs: theDatabase, since: 29,
			why: "it lives and gives no sign; it may hang", run: afterLook("ocr session list --all", func(j judged) []Row { return j.stalled }),
		},
		{
			id: "processes.unknown", expected: "processes about which something can be said", needs: theDatabase, since: 29,
			why: "it has no process id, or ran on another host or in another container: only a person knows",
			run: afterLook("ocr session list --all", func(j judged) []Row { return j.unknown }),
		},
		{
			id: "processes.closed", expected: "no unfinished process of a closed session", needs: theDatabase, since: 25, probe: true,
			why: "it works for a session that has ended", run: offending("processes.closed", Warn, "ocr session list --all"),
		},
		{
			id: "housekeeping.wal", expected: "a log of at most 8 MiB", needs: aProject,
			why: "somebody reads for long and keeps the log from being put into the file", run: housekeepingWAL,
		},
		{
			id: "housekeeping.snapshots", expected: "every snapshot can be used", needs: aProject,
			why: "a snapshot that cannot be read shows only when it is needed", run: housekeepingSnapshots,
		},
		{
			id: "housekeeping.temps", expected: "no temporary file older than an hour", needs: aProject,
			why: "a program died while it made a file", run: housekeepingTemps,
		},
		{
			id: "housekeeping.growth", expected: "below 512 MiB, and not a quarter of it idle", needs: theDatabase,
			why: "every snapshot and every look at the whole file takes longer", run: housekeepingGrowth,
		},
		{
			id: "environment.git", expected: "git on PATH",
			why: "agents look at the changes under review with it", run: environmentGit,
		},
		{
			id: "environment.tools", expected: "for information only",
			why: "tells which assistants a run can use here", run: environmentTools,
		},
		{
			id: "environment.settings", expected: "settings that are numbers", needs: aProject,
			why: "a setting that is none is passed over, and the default holds", run: environmentSettings,
		},
	}
}

const (
	fixDryRun   = "ocr doctor --fix --dry-run"
	fixNow      = "ocr doctor --fix"
	sweepDryRun = "ocr state sweep --dry-run"
)
