package doctor

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"ocr/db"
	"ocr/internal/shell"
)

// oldestSQLite is the first version with all that the schema and its views
// use: unixepoch() came with 3.38, https://sqlite.org/releaselog/3_38_0.html.
var oldestSQLite = []int{3, 38, 0}

// neededParts are compile options without which the schema does not work.
var neededParts = []string{
	"OMIT_COMPOUND_SELECT", "OMIT_CTE", "OMIT_FOREIGN_KEY", "OMIT_JSON",
	"OMIT_SUBQUERY", "OMIT_TRIGGER", "OMIT_VIEW", "OMIT_WAL", "OMIT_WINDOWFUNC",
}

// anotherBuild is what is left to do about an engine that does not fit.
const anotherBuild = "ocr version"

// probeEngine asks the engine once for all checks of it.
func (x *exam) probeEngine(ctx context.Context, chosen []spec) {
	if !slices.ContainsFunc(chosen, func(s spec) bool { return s.group() == "engine" }) {
		return
	}
	dir := x.Start
	if !x.EngineOnly && x.noProject == nil {
		dir = x.existing()
	}
	var probe db.ProbeResult
	probe, x.engineErr = db.Probe(ctx, dir, x.ProbeWrite)
	if x.engineErr != nil && x.ProbeWrite {
		// What the engine says about itself does not hang on the disk.
		if inMemory, err := db.Probe(ctx, "", false); err == nil {
			inMemory.Dir = dir
			probe = inMemory
		}
	}
	x.engine = &probe
}

// aboutEngine declares the run of a check of what the engine said.
func aboutEngine(judge func(db.ProbeResult) result) func(ctx context.Context, x *exam) result {
	return func(_ context.Context, x *exam) result {
		if x.engineErr != nil && x.engine.SQLite == "" {
			return skip("the probe did not get that far: see engine.write")
		}
		return judge(*x.engine)
	}
}

func engineVersion(p db.ProbeResult) result {
	var version []int
	for part := range strings.SplitSeq(p.SQLite, ".") {
		number, err := strconv.Atoi(part)
		if err != nil {
			return unknown(err, anotherBuild)
		}
		version = append(version, number)
	}
	if slices.Compare(version, oldestSQLite) < 0 {
		return fail(anotherBuild, "%s", p.SQLite)
	}
	return ok("%s", p.SQLite)
}

func engineOptions(p db.ProbeResult) result {
	var lacking []string
	for _, part := range neededParts {
		if slices.Contains(p.CompileOptions, part) {
			lacking = append(lacking, part)
		}
	}
	switch {
	case len(p.CompileOptions) == 0:
		return result{status: Unknown, measured: "the engine lists no compile options", next: anotherBuild}
	case slices.Contains(p.CompileOptions, "THREADSAFE=0"):
		return fail(anotherBuild, "built for one thread only (THREADSAFE=0)")
	case len(lacking) > 0:
		return fail(anotherBuild, "built with %s", strings.Join(lacking, ", "))
	}
	return ok("%d options, nothing that the schema needs is left out", len(p.CompileOptions))
}

// engineSettings holds what a connection says to what every connection of
// this program is opened with.
func engineSettings(p db.ProbeResult) result {
	set := p.Settings
	// 1 is NORMAL: https://sqlite.org/pragma.html#pragma_synchronous.
	if !set.ForeignKeys || set.BusyTimeout < 1 || set.Synchronous != 1 {
		return fail(anotherBuild, "foreign_keys %t, busy_timeout %d ms, synchronous %d", set.ForeignKeys, set.BusyTimeout, set.Synchronous)
	}
	return ok("foreign_keys %t, busy_timeout %d ms, synchronous %d", set.ForeignKeys, set.BusyTimeout, set.Synchronous)
}

// engineWrite: the probe wrote a file in write-ahead mode and read it back.
func engineWrite(_ context.Context, x *exam) result {
	switch {
	case x.engineErr != nil:
		return fail("df -h "+shell.Quote(x.engine.Dir), "%v", x.engineErr)
	case !x.ProbeWrite:
		return skip("only with --probe-write")
	case x.engine.Settings.JournalMode != "wal":
		return fail("df -T "+shell.Quote(x.engine.Dir), "the journal mode stays %s below %s", x.engine.Settings.JournalMode, x.engine.Dir)
	}
	return ok("wrote and read back below %s, journal mode wal", x.engine.Dir)
}
