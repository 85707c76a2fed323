package doctor

import "context"

// lifecycleDrift tells a row that lies behind its log in the number of the
// round or run only from one that says something else: other programs lower
// the number to what they find on disk, no verb goes by it, and the next one
// that moves the session puts it right.
func lifecycleDrift(ctx context.Context, x *exam) result {
	const next = "ocr db query 'SELECT * FROM session_drift'"
	behind := 0
	var rows []Row
	err := x.each(ctx, "probes/lifecycle_drift.sql", func(row Row) {
		if field := row.text("field"); field == "current_round" || field == "current_map_run" {
			behind++
		}
		rows = append(rows, row)
	})
	switch total := len(rows); {
	case err != nil:
		return unknown(err, "ocr doctor --check data")
	case total == 0:
		return ok("none")
	case total == behind:
		return warn(next, "%d rows have a lower number than their log: the next advance, complete-round, complete-map, finish or begin "+
			"that changes the session writes the right one", total).with(rows)
	default:
		return fail(next, "%d", total).with(rows)
	}
}
