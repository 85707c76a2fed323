package doctor

import "testing"

// TestRowString: what a column lacks is NULL, as at the SQL prompt.
func TestRowString(t *testing.T) {
	row := Row{"round": nil, "id": int64(3), "a": "x"}
	if got := row.String(); got != "a=x id=3 round=NULL" {
		t.Error(got)
	}
}
