package db

import (
	"testing"
)

// TestExport_EveryTable: every table is exported with the sessions whose rows
// it holds, or is known to hold none.
func TestExport_EveryTable(t *testing.T) {
	belongs := map[string]bool{"schema_version": false}
	for _, part := range sessionRows {
		belongs[part.table] = true
	}
	objects, err := WholeSchema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.Type != "table" {
			continue
		}
		if _, known := belongs[o.Name]; !known {
			t.Errorf("db/export.go does not say which rows of %s belong to a session", o.Name)
		}
	}
}
