package db

import "strings"

// token is a word, a quoted name, a text, or one other character.
type token struct {
	text string
	// quote is the character before a quoted one, which is never a keyword;
	// 0 before others.
	quote byte
	// start and end are where it stands in the statement.
	start, end int
}

// is says whether t is this keyword or sign.
func (t token) is(word string) bool {
	return t.quote == 0 && lower(t.text) == lower(word)
}

// String is the token as it counts in a comparison: names and keywords in one
// case, and whatever is quoted as it is, with its quotes, because a text, a
// name and a keyword of the same letters are three different things.
func (t token) String() string {
	switch t.quote {
	case 0:
		return lower(t.text)
	case '[':
		return "[" + t.text + "]"
	}
	mark := string(t.quote)
	return mark + strings.ReplaceAll(t.text, mark, mark+mark) + mark
}

// lower is the case in which SQLite compares names: it knows the letters of
// ASCII only.
func lower(s string) string {
	all := []byte(s)
	for i, c := range all {
		if 'A' <= c && c <= 'Z' {
			all[i] = c + 'a' - 'A'
		}
	}
	return string(all)
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
			list = append(list, token{text: text, quote: c, start: i, end: i + length})
			i += length
		case wordByte(c):
			end := i
			for end < len(s) && wordByte(s[end]) {
				end++
			}
			// The bytes of x'00' are one value with its letter.
			if end < len(s) && s[end] == '\'' && lower(s[i:end]) == "x" {
				_, length, err := quoted(s[end:])
				if err != nil {
					return nil, err
				}
				end += length
			}
			list = append(list, token{text: s[i:end], start: i, end: end})
			i = end
		default:
			list = append(list, token{text: s[i : i+1], start: i, end: i + 1})
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

// words are what matters of the text of a schema object: its tokens without
// comments and white space. Where two programs wrote the same statement in
// their own manner, the words are the same.
func words(sql string) []string {
	list, err := tokens(sql)
	if err != nil {
		return []string{sql}
	}
	return texts(list)
}

func texts(list []token) (all []string) {
	for _, t := range list {
		all = append(all, t.String())
	}
	return all
}

// oneLine is a statement, or a part of one, as one line of words.
func oneLine(sql string) string {
	return strings.TrimSuffix(strings.Join(words(sql), " "), " ;")
}

// objectLine is the statement that makes an index, trigger or view as one
// line. Its own name and that of its table are known from elsewhere: renaming
// a table puts them into quotes.
func objectLine(sql string) string {
	list, err := tokens(sql)
	if err != nil {
		return sql
	}
	named := func(i int) {
		if i < len(list) && list[i].quote != '\'' {
			list[i].quote = 0
		}
	}
	for i, t := range list {
		if t.is("INDEX") || t.is("TRIGGER") || t.is("VIEW") {
			named(i + 1)
			break
		}
	}
	for i, t := range list {
		if t.is("ON") {
			named(i + 1)
			break
		}
		if t.is("AS") || t.is("BEGIN") {
			break
		}
	}
	return strings.TrimSuffix(strings.Join(texts(list), " "), " ;")
}
