package db

// effects are what the statements of a migration do to the schema and to
// rows. Names are in lower case. What the bodies of triggers say is no deed
// of the migration.
type effects struct {
	// deletes are the tables from which it deletes rows.
	deletes map[string]bool
	// drops are the tables that it drops, dropsViews the views.
	drops, dropsViews map[string]bool
	// narrows are the tables that lose or rename a column.
	narrows map[string]bool
	// renames are tables by their new name.
	renames map[string]string
	// creates are the kinds of the objects that it makes, by name; ends is
	// where the statement ends that makes a table.
	creates map[string]string
	ends    map[string]int
}

// rebuilds says under which passing name the migration makes a table anew;
// empty for none.
func (e effects) rebuilds(table string) (passing string) {
	if e.drops[table] {
		return e.renames[table]
	}
	return ""
}

// reshapes says whether it drops, rebuilds or narrows a table: views, triggers
// and indexes of others are then in its way.
func (e effects) reshapes() bool { return len(e.drops)+len(e.narrows)+len(e.renames) > 0 }

// effectsOf finds them in the text of a migration.
func effectsOf(body string) (effects, error) {
	e := effects{
		deletes: map[string]bool{}, drops: map[string]bool{}, dropsViews: map[string]bool{}, narrows: map[string]bool{},
		renames: map[string]string{}, creates: map[string]string{}, ends: map[string]int{},
	}
	list, err := tokens(body)
	depth, table := 0, ""
	for i, t := range list {
		next := func(n int) token {
			if i+n < len(list) {
				return list[i+n]
			}
			return token{}
		}
		name := lower(next(2).text)
		switch {
		case t.is("BEGIN"), t.is("CASE"):
			depth++
		case t.is("END"):
			depth--
		case depth > 0:
		case t.is(";"):
			if table != "" {
				e.ends[table] = t.end
			}
			table = ""
		case t.is("DROP") && next(1).is("TABLE"):
			e.drops[name] = true
		case t.is("DROP") && next(1).is("VIEW"):
			e.dropsViews[name] = true
		case t.is("DELETE") && next(1).is("FROM"):
			e.deletes[name] = true
		case t.is("CREATE") && next(1).is("TABLE"):
			e.creates[name], table = "table", name
		case t.is("CREATE") && (next(1).is("VIEW") || next(1).is("TRIGGER") || next(1).is("INDEX")):
			e.creates[name] = lower(next(1).text)
		case t.is("CREATE") && next(1).is("UNIQUE"):
			e.creates[lower(next(3).text)] = "index"
		case t.is("ALTER") && next(1).is("TABLE") && next(3).is("RENAME") && next(4).is("TO"):
			e.renames[lower(next(5).text)] = name
		case t.is("ALTER") && next(1).is("TABLE") && (next(3).is("DROP") || next(3).is("RENAME")):
			e.narrows[name] = true
		}
	}
	return e, err
}
