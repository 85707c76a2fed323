package doctor

import (
	"context"

	"ocr/internal/lifecycle"
)

// staleSeconds is the age at which a session counts as left alone for good.
const staleSeconds = lifecycle.StaleDays * 24 * 60 * 60

// grace is how long nothing may happen in a session before somebody should
// know, in seconds: as long as a lease that the reader takes would last.
func (x *exam) grace() int64 { return x.caller.Runtime.ForwardResumeLeaseSeconds }

// isUnfinished: the round or run is complete, and nobody closed the session.
func (x *exam) isUnfinished(r Row) bool {
	return r.number("is_complete") == 1 && r.number("idle_seconds") > x.grace()
}

// isStale: without a result, and a sweep would close it.
func (x *exam) isStale(r Row) bool {
	return r.number("is_complete") == 0 && r.number("idle_seconds") > staleSeconds
}

// isStranded: without a result, not kept for the holder of a lease, and not yet
// stale.
func (x *exam) isStranded(r Row) bool {
	return r.number("is_complete") == 0 && r.number("is_leased") == 0 && r.number("idle_seconds") > x.grace() && !x.isStale(r)
}

// leftAlone declares the run of a check of the sessions that nobody works on.
func leftAlone(next string, counts func(x *exam, r Row) bool) func(ctx context.Context, x *exam) result {
	return func(ctx context.Context, x *exam) result {
		var rows []Row
		err := x.each(ctx, "facts/idle.sql", func(r Row) {
			if counts(x, r) {
				rows = append(rows, r)
			}
		})
		switch {
		case err != nil:
			return unknown(err, "ocr state list --status active")
		case len(rows) == 0:
			return ok("none")
		}
		return warn(next, "%d", len(rows)).with(rows)
	}
}
