package journal

import "ocr/db/gen"

// hotQueries are those that a verb of the journal or status runs each time.
func hotQueries() map[string]string {
	return map[string]string{
		"ExecutionFind":             gen.ExecutionFind,
		"ExecutionGet":              gen.ExecutionGet,
		"ExecutionWorkflow":         gen.ExecutionWorkflow,
		"ExecutionLink":             gen.ExecutionLink,
		"ExecutionBeat":             gen.ExecutionBeat,
		"ExecutionBind":             gen.ExecutionBind,
		"ExecutionNote":             gen.ExecutionNote,
		"ExecutionEnd":              gen.ExecutionEnd,
		"ExecutionOrphan":           gen.ExecutionOrphan,
		"ExecutionCloseWithSession": gen.ExecutionCloseWithSession,
		"JournalUnfinished":         gen.JournalUnfinished,
		"JournalRunning":            gen.JournalRunning,
		"JournalVendorHolder":       gen.JournalVendorHolder,
		"JournalOfSession":          gen.JournalOfSession,
		"JournalAll":                gen.JournalAll,
		"JournalGet":                gen.JournalGet,
		"JournalNewestUnbound":      gen.JournalNewestUnbound,
		"JournalNewestBound":        gen.JournalNewestBound,
	}
}
