package lifecycle_test

import (
	"strings"
	"testing"

	"ocr/db/gen"
)

// TestHealingPlans holds the queries of resume and sweep to their indexes: the
// log and the journal are never walked as a whole.
func TestHealingPlans(t *testing.T) {
	d := newDesk(t)
	d.begin("s", "review")
	pool := d.open()
	defer pool.Close()
	for name, query := range map[string]string{
		"LeaseLast": gen.LeaseNewest, "SweepSessions": gen.SweepSessions,
	} {
		plan := rowsOf(t, pool, "EXPLAIN QUERY PLAN "+query, 1, 1, "s", "[]")
		for step := range strings.Lines(plan) {
			_, what, _ := strings.Cut(step, "SCAN ")
			table, _, _ := strings.Cut(strings.TrimSpace(what), " ")
			switch table {
			case "", "j", "a", "t", "(subquery-1)", "CONSTANT":
				// Steps of the statement itself, not of a table.
			default:
				t.Errorf("%s walks %s; edit db/queries/healing.sql:\n%s", name, table, plan)
			}
		}
	}
}
