package db

import "strings"

// token is a word, a quoted name, a text, or one other character.
type token struct {
	text string
	// quote is the character before a quoted one, which is never a keyword;
	// 0 before others.
	quote byte
}

// is says whether t is this keyword or sign.
func (t token) is(word string) bool {
	return t.quote == 0 && strings.EqualFold(t.text, word)
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
			list = append(list, token{text: text, quote: c})
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

// words are what matters of the text of a schema object: names and keywords
// in one case, texts as they are. Where two programs wrote the same statement
// in their own manner, the words are the same.
func words(sql string) []string {
	list, err := tokens(sql)
	if err != nil {
		return []string{sql}
	}
	var all []string
	for _, t := range list {
		if t.quote == '\'' {
			all = append(all, "'"+strings.ReplaceAll(t.text, "'", "''")+"'")
			continue
		}
		all = append(all, strings.ToLower(t.text))
	}
	return all
}

// oneLine is the whole of a CREATE as one line of words.
func oneLine(sql string) string {
	return strings.TrimSuffix(strings.ReplaceAll(strings.Join(words(sql), " "), "if not exists ", ""), " ;")
}

// checks are the CHECK clauses of a CREATE TABLE, each as one line of words.
func checks(sql string) []string {
	var found []string
	list := words(sql)
	for i := range list {
		if list[i] != "check" || i+1 == len(list) || list[i+1] != "(" {
			continue
		}
		depth := 0
		for j := i + 1; j < len(list); j++ {
			switch list[j] {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				found = append(found, strings.Join(list[i+1:j+1], " "))
				break
			}
		}
	}
	return found
}

// deletions are the tables whose rows the statements of a schema step delete,
// in lower case, and whether it drops a table. What the bodies of triggers
// say is no deed of the step.
func deletions(body string) (tables map[string]bool, drops bool, err error) {
	list, err := tokens(body)
	if err != nil {
		return nil, false, err
	}
	tables = map[string]bool{}
	depth := 0
	for i, t := range list {
		next := func(n int) token {
			if i+n < len(list) {
				return list[i+n]
			}
			return token{}
		}
		switch {
		case t.is("BEGIN"), t.is("CASE"):
			depth++
		case t.is("END"):
			depth--
		case depth > 0:
		case t.is("DROP") && next(1).is("TABLE"):
			drops = true
		case t.is("DELETE") && next(1).is("FROM"):
			tables[strings.ToLower(next(2).text)] = true
		}
	}
	return tables, drops, nil
}
