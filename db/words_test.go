package db

import (
	"maps"
	"slices"
	"testing"
)

// TestDeletions: only what a step itself does counts, and names are whole.
func TestDeletions(t *testing.T) {
	for _, c := range []struct {
		name, body string
		tables     []string
		drops      bool
	}{
		{"Nothing", "CREATE TABLE a (b); INSERT INTO a VALUES ('DELETE FROM a; DROP TABLE a')", nil, false},
		{"Delete", "DELETE FROM Sessions WHERE 0; delete from \"a b\"", []string{"a b", "sessions"}, false},
		{"LongerName", "DELETE FROM sessions_old", []string{"sessions_old"}, false},
		{"Drop", "drop  table a", nil, true},
		{"Comment", "-- DELETE FROM a\n/* DROP TABLE a */ SELECT 1", nil, false},
		{"Trigger", "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; DELETE FROM b; END; DELETE FROM c", []string{"c"}, false},
		{"CutShort", "DROP", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := effectsOf(c.body)
			if got := slices.Sorted(maps.Keys(e.deletes)); err != nil || !slices.Equal(got, c.tables) || len(e.drops) > 0 != c.drops {
				t.Errorf("tables %v, drops %v: %v", got, e.drops, err)
			}
		})
	}
}
