package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ocr/db"
)

// reader is what a shape is read from.
type reader interface {
	Query(ctx context.Context, statement string) (*sql.Rows, error)
}

// kind is a kind of schema object that is compared by itself.
type kind string

const (
	tables   kind = "table"
	columns  kind = "column"
	indexes  kind = "index"
	triggers kind = "trigger"
	views    kind = "view"
)

// object is one thing of a schema. Two are the same if their texts are.
type object struct {
	kind  kind
	table string
	name  string
	text  string
}

// key names the object among all.
func (o object) key() string {
	if o.kind == columns {
		return string(o.kind) + " " + o.table + "." + o.name
	}
	return string(o.kind) + " " + o.name
}

// shape is a schema taken apart. Tables are compared by columns, keys and
// CHECK clauses, because other programs write and alter them in their own
// manner; the rest by its words.
type shape map[string]object

func readShape(ctx context.Context, r reader) (shape, error) {
	s := shape{}
	for _, part := range []struct {
		file string
		add  func(Row)
	}{
		{"tables", s.addTable}, {"columns", s.addColumn}, {"foreign_keys", s.addForeignKey},
		{"indexes", s.addConstraint}, {"objects", s.addObject},
	} {
		text, err := statements.ReadFile("facts/" + part.file + ".sql")
		if err != nil {
			return nil, err
		}
		if err := eachRow(ctx, r, string(text), part.add); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s shape) add(o object) { s[strings.ToLower(o.key())] = o }

func (s shape) addTable(row Row) {
	name, text := row.text("name"), row.text("sql")
	s.add(object{kind: tables, table: name, name: name})
	list := checks(text)
	slices.Sort(list)
	for i, check := range list {
		s.add(object{kind: columns, table: name, name: fmt.Sprintf("CHECK %d", i+1), text: check})
	}
	if slices.Contains(words(text), "autoincrement") {
		s.add(object{kind: columns, table: name, name: "AUTOINCREMENT"})
	}
}

func (s shape) addColumn(row Row) {
	text := row.text("type")
	if row.number("is_not_null") != 0 {
		text += " NOT NULL"
	}
	if value := row.text("default_value"); value != "" && !strings.EqualFold(value, "NULL") {
		text += " DEFAULT " + statement(value)
	}
	if row.number("key_position") != 0 {
		text += fmt.Sprintf(" PRIMARY KEY %d", row.number("key_position"))
	}
	s.add(object{kind: columns, table: row.text("table_name"), name: row.text("name"), text: text})
}

func (s shape) addForeignKey(row Row) {
	s.add(object{
		kind: columns, table: row.text("table_name"), name: row.text("name") + " REFERENCES",
		text: strings.ToLower(fmt.Sprintf("%s(%s) on delete %s on update %s",
			row.text("parent"), row.text("parent_column"), row.text("on_delete"), row.text("on_update"))),
	})
}

// addConstraint adds the UNIQUE keys inside a table; an index by its own
// statement is an object.
func (s shape) addConstraint(row Row) {
	if row.text("origin") == "u" {
		s.add(object{kind: columns, table: row.text("table_name"), name: "UNIQUE (" + row.text("columns") + ")"})
	}
}

func (s shape) addObject(row Row) {
	s.add(object{
		kind: kind(row.text("type")), table: row.text("table_name"), name: row.text("name"), text: statement(row.text("sql")),
	})
}

// expectedShapes keeps what expectedShape found, by version.
var expectedShapes sync.Map

// expectedShape is the schema as it is after the step version.
func expectedShape(ctx context.Context, version int) (s shape, err error) {
	if known, ok := expectedShapes.Load(version); ok {
		return known.(shape), nil
	}
	err = db.Blueprint(ctx, version, func(ctx context.Context, r *db.Reader) error {
		var err error
		s, err = readShape(ctx, r)
		return err
	})
	if err == nil {
		expectedShapes.Store(version, s)
	}
	return s, err
}

// difference is one object that is not as expected.
type difference struct {
	object object
	// fault is missing, changed or extra.
	fault string
}

// compare names every object that is missing, changed or extra. What belongs
// to a missing table is not named again. Without textsToo only the names of
// views and triggers count: below our own steps they are those of whichever
// program made them.
func compare(actual, expected shape, textsToo bool) []difference {
	var found []difference
	for key, want := range expected {
		have, there := actual[key]
		_, table := actual[strings.ToLower(object{kind: tables, name: want.table}.key())]
		texts := textsToo || want.kind != triggers && want.kind != views
		switch {
		case !there && !table && want.kind != tables && want.kind != views:
		case !there:
			found = append(found, difference{want, "missing"})
		case texts && have.text != want.text:
			found = append(found, difference{want, "changed"})
		}
	}
	for key, have := range actual {
		if _, known := expected[key]; known {
			continue
		}
		_, tableKnown := expected[strings.ToLower(object{kind: tables, name: have.table}.key())]
		if have.kind == tables || have.kind == views || tableKnown {
			found = append(found, difference{have, "extra"})
		}
	}
	slices.SortFunc(found, func(a, b difference) int { return strings.Compare(a.object.key(), b.object.key()) })
	return found
}
