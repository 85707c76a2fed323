// Command dumpschema writes the whole schema, as it is after all steps, to the
// file that its argument names.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"ocr/db"
)

func main() {
	if err := dump(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "dumpschema:", err)
		os.Exit(1)
	}
}

func dump(path string) error {
	objects, err := db.WholeSchema(context.Background())
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("-- The whole schema after all steps of db/schema. Made by make generate.\n")
	for _, o := range objects {
		fmt.Fprintf(&text, "\n%s;\n", o.SQL)
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}
