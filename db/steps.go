package db

import (
	"io/fs"
	"strings"
)

// Step is one step of the schema.
type Step struct {
	// Version is the schema version after it.
	Version int
	// Name is what its file is called after: sessions, chat.
	Name string
}

// Steps lists the steps that this program knows, in their order.
func Steps() ([]Step, error) { return stepsIn(embedded) }

func stepsIn(steps fs.FS) (list []Step, err error) {
	names, err := fs.Glob(steps, "schema/*.up.sql")
	for _, name := range names {
		_, noun, _ := strings.Cut(strings.TrimSuffix(name, ".up.sql"), "_")
		list = append(list, Step{Version: stepNumber(name), Name: noun})
	}
	return list, err
}
