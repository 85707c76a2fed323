package db

import (
	"fmt"
	"slices"
	"strings"
)

// tableClause is one column of a CREATE TABLE, or one or more of the
// constraints behind the columns.
type tableClause struct {
	// column is the name of the column; empty for constraints.
	column string
	tokens []token
	// text is the clause as it is written, comments inside it included.
	text string
}

// tableClauses splits a CREATE TABLE; none for a statement that is none.
func tableClauses(sql string) (clauses []tableClause) {
	list, err := tokens(sql)
	open := slices.IndexFunc(list, func(t token) bool { return t.is("(") })
	if err != nil || open < 0 {
		return nil
	}
	depth, from := 0, open+1
	for i := open; i < len(list); i++ {
		switch t := list[i]; {
		case t.is("("):
			depth++
			continue
		case t.is(")"):
			depth--
		case t.is(",") && depth == 1:
		default:
			continue
		}
		if depth == 0 || list[i].is(",") && depth == 1 {
			if from < i {
				clauses = append(clauses, newClause(sql, list[from:i]))
			}
			from = i + 1
		}
		if depth == 0 {
			break
		}
	}
	return clauses
}

func newClause(sql string, list []token) tableClause {
	c := tableClause{tokens: list, text: sql[list[0].start:list[len(list)-1].end]}
	for _, word := range []string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"} {
		if list[0].is(word) {
			return c
		}
	}
	c.column = list[0].text
	return c
}

// checks are the CHECK clauses in it, each as one line of words.
func (c tableClause) checks() (found []string) {
	for i, t := range c.tokens {
		if t.is("CHECK") && i+1 < len(c.tokens) && c.tokens[i+1].is("(") {
			found = append(found, strings.Join(texts(c.tokens[i+1:closing(c.tokens, i+1)]), " "))
		}
	}
	return found
}

// closing is the place behind the bracket that closes the one at open.
func closing(list []token, open int) int {
	depth := 0
	for i := open; i < len(list); i++ {
		switch {
		case list[i].is("("):
			depth++
		case list[i].is(")"):
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(list)
}

// storing is what a clause says of how rows are stored, compared and refused
// and no pragma tells: COLLATE, ON CONFLICT, a generated value, DESC of a
// primary key, and foreign keys that wait for the commit.
func (c tableClause) storing() string {
	var found []string
	rule := ""
	list := c.tokens
	next := func(i int) token {
		if i < len(list) {
			return list[i]
		}
		return token{}
	}
	for i := 0; i < len(list); i++ {
		switch t := list[i]; {
		case t.is("PRIMARY"), t.is("UNIQUE"), t.is("NULL"), t.is("CHECK"):
			rule = lower(t.text)
		case t.is("("):
			end := closing(list, i)
			if rule != "check" && c.column == "" {
				rule = strings.Join(append([]string{rule}, texts(list[i:end])...), " ")
			}
			i = end - 1
		case t.is("COLLATE"):
			found = append(found, "COLLATE "+lower(next(i+1).text))
			i++
		case t.is("DESC"):
			found = append(found, "DESC")
		case t.is("CONFLICT") && !next(i+1).is("ABORT"):
			found = append(found, fmt.Sprintf("%s ON CONFLICT %s", rule, lower(next(i+1).text)))
		case t.is("DEFERRABLE") && next(i+1).is("INITIALLY") && next(i+2).is("DEFERRED") && !(i > 0 && list[i-1].is("NOT")):
			found = append(found, "DEFERRABLE INITIALLY DEFERRED")
		case t.is("AS") && next(i+1).is("("):
			end := closing(list, i+1)
			kind := "virtual"
			if next(end).is("STORED") {
				kind = "stored"
			}
			found = append(found, "GENERATED "+strings.Join(texts(list[i+1:end]), " ")+" "+kind)
			i = end - 1
		}
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// addClauses adds what the clauses of a table say and no pragma tells.
func (s shape) addClauses(table definition) {
	var all, options []string
	for _, c := range tableClauses(table.text) {
		all = append(all, c.checks()...)
		says := c.storing()
		p := part{"column", lower(table.table + "." + c.column)}
		column, there := s[p]
		switch {
		case says == "":
		case there:
			column.text += " " + says
			s[p] = column
		default:
			options = append(options, says)
		}
	}
	slices.Sort(all)
	for i, check := range all {
		s.add("column", definition{table.table, fmt.Sprintf("CHECK %d", i+1), check})
	}
	if slices.Contains(words(table.text), "autoincrement") {
		s.add("column", definition{table: table.table, name: "AUTOINCREMENT"})
	}
	slices.Sort(options)
	s.add("column", definition{table.table, "TABLE OPTIONS", strings.Join(options, " ")})
}
