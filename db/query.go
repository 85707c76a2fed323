package db

import (
	"fmt"
	"strings"
)

// readPragmas only report, and take no value or the name of an object.
var readPragmas = map[string]bool{
	// With the name of a table or an index, or a number of lines.
	"table_info": true, "table_xinfo": true, "table_list": true,
	"index_list": true, "index_info": true, "index_xinfo": true,
	"foreign_key_list": true, "foreign_key_check": true,
	"integrity_check": true, "quick_check": true,
	// Without anything: with a value these would set it.
	"application_id": false, "collation_list": false, "compile_options": false,
	"data_version": false, "database_list": false, "encoding": false,
	"foreign_keys": false, "freelist_count": false, "function_list": false,
	"module_list": false, "page_count": false,
	"page_size": false, "pragma_list": false, "schema_version": false,
	"synchronous": false, "user_version": false,
}

// refusedFunctions act outside the database.
var refusedFunctions = map[string]bool{
	"load_extension": true, "readfile": true, "writefile": true, "edit": true,
	"fts3_tokenizer": true,
}

// StatementError says why a statement is not accepted for reading.
type StatementError struct{ Reason string }

func (e *StatementError) Error() string { return e.Reason }

// ReadOnlyStatement accepts exactly one SELECT, VALUES, WITH ... SELECT,
// EXPLAIN of these, or a PRAGMA that only reports. Everything else is a
// *StatementError: the engine's own read-only mode would still let ATTACH and
// VACUUM INTO write other files.
func ReadOnlyStatement(statement string) error {
	words, err := tokens(statement)
	if err != nil {
		return err
	}
	for len(words) > 0 && words[len(words)-1].is(";") {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return refuse("there is no statement")
	}
	for _, word := range words {
		if word.is(";") {
			return refuse("give exactly one statement")
		}
	}
	if words[0].is("EXPLAIN") {
		words = words[1:]
		if len(words) > 1 && words[0].is("QUERY") && words[1].is("PLAN") {
			words = words[2:]
		}
	} else if words[0].is("PRAGMA") {
		return readPragma(words[1:])
	}
	if len(words) == 0 {
		return refuse("EXPLAIN needs a statement")
	}
	switch {
	case words[0].is("SELECT"), words[0].is("VALUES"):
	case words[0].is("WITH"):
		if err := withReads(words); err != nil {
			return err
		}
	default:
		return refuse("%s is not a reading statement: use SELECT, VALUES, WITH, EXPLAIN or a reporting PRAGMA", words[0].text)
	}
	return noOutsideFunctions(words)
}

// withReads looks for the statement after the common tables, which stand in
// parentheses.
func withReads(words []token) error {
	depth := 0
	for _, word := range words {
		switch {
		case word.is("("):
			depth++
		case word.is(")"):
			depth--
		case depth > 0:
		case word.is("SELECT"), word.is("VALUES"):
			return nil
		case word.is("INSERT"), word.is("REPLACE"), word.is("UPDATE"), word.is("DELETE"):
			return refuse("WITH ... %s writes", strings.ToUpper(word.text))
		}
	}
	return refuse("WITH needs a SELECT or VALUES")
}

func noOutsideFunctions(words []token) error {
	for i, word := range words[:len(words)-1] {
		name := strings.ToLower(word.text)
		if words[i+1].is("(") && refusedFunctions[name] {
			return refuse("%s() acts outside the database", name)
		}
	}
	return nil
}

// readPragma accepts [schema .] name, and ( name ) where that only selects.
func readPragma(words []token) error {
	if len(words) >= 3 && words[1].is(".") {
		words = words[2:]
	}
	if len(words) == 0 {
		return refuse("PRAGMA needs a name")
	}
	name := strings.ToLower(words[0].text)
	argument, known := readPragmas[name]
	rest := words[1:]
	switch {
	case !known:
		return refuse("PRAGMA %s is not in the list of reporting PRAGMAs", name)
	case len(rest) == 0:
		return nil
	case !argument:
		return refuse("PRAGMA %s is accepted without a value only", name)
	case len(rest) == 3 && rest[0].is("(") && rest[2].is(")"):
		return nil
	}
	return refuse("PRAGMA %s takes a name in parentheses", name)
}

func refuse(format string, args ...any) error {
	return &StatementError{Reason: fmt.Sprintf(format, args...)}
}
