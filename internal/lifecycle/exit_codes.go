package lifecycle

// The exit codes of the journal of processes that have a meaning of their own.
// The view agent_journal derives the status from them. Those from ExitFoundDead
// down to ExitOverdue are given by the programs that keep the journal, never by
// the process itself.
const (
	ExitDone      int64 = 0
	ExitCancelled int64 = -2 // by a user
	ExitFoundDead int64 = -3 // there was proof that it is dead
	ExitClosed    int64 = -4 // ended with its session or its supervisor
	ExitOverdue   int64 = -5 // past its deadline
)
