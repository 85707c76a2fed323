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

// token is a word, a quoted name, a text, or one other character.
type token struct {
	text string
	// quoted says that text stood in quotes: never a keyword.
	quoted bool
}

// is says whether t is this keyword or sign.
func (t token) is(word string) bool {
	return !t.quoted && strings.EqualFold(t.text, word)
}

// tokens splits a statement as SQLite does, as far as the rules here need:
// comments are left out, and whatever stands in quotes is one token.
func tokens(s string) ([]token, error) {
	var list []token
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == 0:
			return nil, refuse("the statement holds a NUL character")
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			i++
		case strings.HasPrefix(s[i:], "--"):
			end := strings.IndexByte(s[i:], '\n')
			if end < 0 {
				return list, nil
			}
			i += end + 1
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return list, nil
			}
			i += end + 4
		case c == '\'' || c == '"' || c == '`' || c == '[':
			text, length, err := quoted(s[i:])
			if err != nil {
				return nil, err
			}
			list = append(list, token{text: text, quoted: true})
			i += length
		case wordByte(c):
			end := i
			for end < len(s) && wordByte(s[end]) {
				end++
			}
			list = append(list, token{text: s[i:end]})
			i = end
		default:
			list = append(list, token{text: s[i : i+1]})
			i++
		}
	}
	return list, nil
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quoted reads one quoted token at the start of s: its text and its length
// with the quotes. A doubled quote stands for itself.
func quoted(s string) (text string, length int, err error) {
	end := s[0]
	if end == '[' {
		end = ']'
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == 0:
			return "", 0, refuse("the statement holds a NUL character")
		case s[i] != end:
			b.WriteByte(s[i])
		case end != ']' && i+1 < len(s) && s[i+1] == end:
			b.WriteByte(end)
			i++
		default:
			return b.String(), i + 1, nil
		}
	}
	return "", 0, refuse("a quote is not closed: %c", s[0])
}
