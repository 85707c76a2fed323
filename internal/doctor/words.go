package doctor

import "strings"

// words splits the text of a schema object into what matters: without white
// space and comments, names and keywords in one case, texts as they are.
// Where two programs wrote the same statement in their own manner, the words
// are the same.
func words(sql string) []string {
	var list []string
	for i := 0; i < len(sql); {
		rest := sql[i:]
		switch c := sql[i]; {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			i++
		case strings.HasPrefix(rest, "--"):
			i += length(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			i += 2 + length(rest[2:], "*/")
		case c == '\'':
			n := quotedLength(rest)
			list = append(list, rest[:n])
			i += n
		case c == '"' || c == '`' || c == '[':
			n := quotedLength(rest)
			list = append(list, strings.ToLower(strings.Trim(rest[:n], "\"`[]")))
			i += n
		case wordByte(c):
			n := 1
			for n < len(rest) && wordByte(rest[n]) {
				n++
			}
			list = append(list, strings.ToLower(rest[:n]))
			i += n
		default:
			list = append(list, rest[:1])
			i++
		}
	}
	return list
}

// statement is the whole of a CREATE as one line of words.
func statement(sql string) string {
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

// length is how far end reaches in text, or the whole of it.
func length(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

// quotedLength is the length of the quoted word at the start of text; a
// doubled quote stands for itself.
func quotedLength(text string) int {
	end := text[0]
	if end == '[' {
		end = ']'
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != end:
		case i+1 < len(text) && text[i+1] == end:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
