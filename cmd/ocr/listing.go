package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// listing is a table for people: a line of headings and lines of cells, aligned.
// Text from others stays within its cell.
type listing struct {
	heads []string
	rows  [][]string
}

func newListing(heads ...string) *listing { return &listing{heads: heads} }

func (l *listing) row(cells ...string) { l.rows = append(l.rows, cells) }

// print writes the table; nothing when it has no rows.
func (l *listing) print(w io.Writer) {
	if len(l.rows) == 0 {
		return
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cells := range append([][]string{l.heads}, l.rows...) {
		for i, cell := range cells {
			cells[i] = oneLine(cell)
		}
		fmt.Fprintln(out, strings.Join(cells, "\t"))
	}
	out.Flush()
}
