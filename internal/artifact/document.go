package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxPayload is the largest payload that is taken, in bytes.
const MaxPayload = 32 << 20

// byteOrderMark opens the files that some editors write. One is skipped.
var byteOrderMark = []byte("\ufeff")

// schemaVersion is the only payload version there is.
const schemaVersion = 1

// value is one JSON value of a payload, as it was given.
type value struct {
	path string
	// offset orders values as they stand in the payload.
	offset int64
	raw    json.RawMessage
}

// kind names the JSON type for a message.
func (v value) kind() string {
	switch v.raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// object is a JSON object that keeps the order of its members and those nobody
// knows, so that it can be written again with some values changed.
type object struct {
	value
	shape
	members []member
}

type member struct {
	key string
	value
}

func (o *object) get(key string) (value, bool) {
	for _, m := range o.members {
		if m.key == key {
			return m.value, true
		}
	}
	return value{}, false
}

func (o *object) has(key string) bool {
	_, ok := o.get(key)
	return ok
}

// set changes the value of a member that is there.
func (o *object) set(key string, raw json.RawMessage) {
	for i := range o.members {
		if o.members[i].key == key {
			o.members[i].raw = raw
		}
	}
}

func (o *object) encode() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o.members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encodeText(m.key))
		b.WriteByte(':')
		b.Write(m.raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func encodeList(items []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// encodeText writes a JSON string with < > & and the separators of lines as they
// are. It never needs more bytes than the string had in a payload.
func encodeText(s string) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20:
			if i := strings.IndexRune("\b\f\n\r\t", r); i >= 0 {
				b.WriteByte('\\')
				b.WriteByte("bfnrt"[i])
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.Bytes()
}

// stored is the form in which a document lies on disk: indented, unless that
// would make it larger than limit. Without white space it is no larger than the
// payload was, so what was taken can be read again.
func stored(raw json.RawMessage, limit int) []byte {
	var b bytes.Buffer
	write := func() error { return json.Compact(&b, raw) }
	if indentedSize(raw, limit) < limit {
		write = func() error { return json.Indent(&b, raw, "", "  ") }
	}
	if err := write(); err != nil {
		panic(fmt.Sprintf("a checked document is not JSON: %v", err))
	}
	if b.Len() < limit {
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// indentedSize is the number of bytes of raw once indented, without making
// it: deep nesting can need thousands of times what it had. It stops counting
// past limit.
func indentedSize(raw json.RawMessage, limit int) int {
	size, depth, empty := 0, 0, false
	for i := 0; i < len(raw) && size <= limit; i++ {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[':
			depth++
			size += 2 + 2*depth // with the end of the line, and the next indent
			empty = true
			continue
		case '}', ']':
			depth--
			if empty {
				size -= 2 + 2*depth + 1 // an empty one stays on its line
			} else {
				size += 1 + 2*depth
			}
			size++
		case ',':
			size += 2 + 2*depth
		case ':':
			size += 2
		case '"':
			end := stringEnd(raw, i)
			size += end - i
			i = end - 1
		default:
			size++
		}
		empty = false
	}
	return size
}

// stringEnd is the index after the string that begins at start.
func stringEnd(raw []byte, start int) int {
	for i := start + 1; ; i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// repairSurrogates puts the escape of U+FFFD in place of each escaped half of a
// surrogate pair, which stands for no character; in keys as in values, known
// or not. The length stays.
func repairSurrogates(raw []byte) []byte {
	var repaired []byte
	half := func(i int) rune {
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		if err != nil || !utf16.IsSurrogate(rune(n)) {
			return -1
		}
		return rune(n)
	}
	for i := 0; i < len(raw); {
		next := bytes.IndexByte(raw[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		first := half(i)
		switch {
		case first < 0:
			i += 2
		case utf16.DecodeRune(first, half(i+6)) != utf8.RuneError:
			i += 12
		default:
			if repaired == nil {
				repaired = bytes.Clone(raw)
			}
			copy(repaired[i:], `\ufffd`)
			i += 6
		}
	}
	if repaired == nil {
		return raw
	}
	return repaired
}

// checker reads a payload piece by piece and collects what is wrong with it.
type checker struct {
	faults firsts
	// warned are remarks that keep no payload from being taken.
	warned firsts
	// full: there are more than maxCounted, and nothing needs to be read any
	// further.
	full bool
}

func (c *checker) fail(v value, format string, args ...any) {
	if c.faults.total == maxCounted {
		c.full = true
		return
	}
	c.faults.add(v.offset, v.path, func() string { return fmt.Sprintf(format, args...) })
}

// sound tells that nothing wrong was found yet.
func (c *checker) sound() bool { return c.faults.total == 0 }

// err is nil if nothing was found, else *Invalid.
func (c *checker) err() error {
	if c.faults.total == 0 {
		return nil
	}
	return &Invalid{Problems: c.faults.problems(), More: c.faults.more(), Truncated: c.full}
}

// open takes the bytes of a payload for a JSON object. What is wrong here
// leaves nothing to look into further, so it is the only problem reported.
func open(data []byte) (value, error) {
	if len(data) > MaxPayload {
		return value{}, invalid("is larger than %d MiB; shorten the texts, or split the work", MaxPayload>>20)
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return value{}, invalid("is empty; pipe the JSON in, or name its file with --file")
	}
	if !utf8.Valid(data) {
		return value{}, invalid("is not valid UTF-8 at %s", position(data, validPrefix(data)))
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return value{}, invalid("is not JSON: %v at %s", err, position(data, int(syntax.Offset)-1))
		}
		return value{}, invalid("is not JSON: %v", err)
	}
	v := value{path: "$", raw: repairSurrogates(trimmed)}
	if trimmed[0] != '{' {
		return value{}, invalid("must be an object, not %s", v.kind())
	}
	return v, nil
}

// position says where a byte offset is to somebody with an editor.
func position(data []byte, offset int) string {
	before := data[:max(0, min(offset, len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return fmt.Sprintf("line %d, byte %d", line, column)
}

// validPrefix is the number of leading bytes that are UTF-8.
func validPrefix(data []byte) int {
	n := 0
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// object splits an object into its members. The keys of its shape are the ones
// with a meaning: each may stand only once. Others are kept, with a warning.
func (c *checker) object(v value, s shape) (*object, bool) {
	if v.raw[0] != '{' {
		c.fail(v, "must be an object, not %s", v.kind())
		return nil, false
	}
	o := &object{value: v, shape: s}
	seen := make(map[string]int, len(s.keys))
	c.split(v.raw, func(d *json.Decoder) bool {
		key := must(d.Token()).(string)
		m := member{key, value{path: below(v.path, key), offset: v.offset + d.InputOffset()}}
		m.raw = next(d)
		if slices.Contains(s.keys, key) {
			if seen[key]++; seen[key] == 2 {
				c.fail(m.value, "stands more than once in one object; give it once")
			}
		}
		o.members = append(o.members, m)
		return true
	})
	c.unknown(o)
	return o, true
}

// array splits an array into its items, one at a time.
func (c *checker) array(v value) (iter.Seq[value], bool) {
	if v.raw[0] != '[' {
		c.fail(v, "must be an array, not %s", v.kind())
		return nil, false
	}
	return func(yield func(value) bool) {
		n := 0
		c.split(v.raw, func(d *json.Decoder) bool {
			item := value{path: fmt.Sprintf("%s[%d]", v.path, n), offset: v.offset + d.InputOffset()}
			item.raw = next(d)
			n++
			return yield(item)
		})
	}, true
}

// split calls each for every member or item of a container, as long as each
// returns true and the checker is not full.
func (c *checker) split(raw json.RawMessage, each func(*json.Decoder) bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	must(d.Token())
	for !c.full && d.More() && each(d) {
	}
}

func next(d *json.Decoder) json.RawMessage {
	var raw json.RawMessage
	must(raw, d.Decode(&raw))
	return bytes.TrimSpace(raw)
}

// must is for reading JSON that open has found sound as a whole.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("checked JSON cannot be read: %v", err))
	}
	return v
}

// required finds a member that may not be missing.
func (c *checker) required(o *object, key string) (value, bool) {
	v, ok := o.get(key)
	if ok {
		return v, true
	}
	missing := value{path: o.path + "." + key, offset: o.offset}
	for _, m := range o.members {
		if !slices.Contains(o.keys, m.key) && o.meant(m.key) == key {
			c.fail(missing, "is missing; was %s meant to be it?", quote(m.key))
			return v, false
		}
	}
	c.fail(missing, "is missing")
	return v, false
}

func (c *checker) text(v value) (string, bool) {
	if v.raw[0] != '"' {
		c.fail(v, "must be a string, not %s", v.kind())
		return "", false
	}
	var s string
	if err := json.Unmarshal(v.raw, &s); err != nil {
		panic(fmt.Sprintf("checked JSON cannot be read: %v", err))
	}
	return s, true
}

func (c *checker) integer(v value) (int64, bool) {
	if v.kind() != "a number" {
		c.fail(v, "must be an integer, not %s", v.kind())
		return 0, false
	}
	n, err := integer(string(v.raw))
	if err != nil {
		c.fail(v, "%v, not %s", err, firstRunes(string(v.raw), maxQuoted))
		return 0, false
	}
	return n, true
}

// atLeast is an integer that must not be smaller than low.
func (c *checker) atLeast(v value, low int64) (int64, bool) {
	n, ok := c.integer(v)
	if ok && n < low {
		c.fail(v, "must be at least %d, not %d", low, n)
		return 0, false
	}
	return n, ok
}

func (c *checker) requiredText(o *object, key string) (string, bool) {
	v, ok := c.required(o, key)
	if !ok {
		return "", false
	}
	return c.text(v)
}

// freeText is a required text that is stored cleaned.
func (c *checker) freeText(o *object, key string) (string, bool) {
	s, ok := c.requiredText(o, key)
	if !ok {
		return "", false
	}
	s = clean(s)
	o.set(key, encodeText(s))
	return s, true
}

func (c *checker) requiredAtLeast(o *object, key string, low int64) (int64, bool) {
	v, ok := c.required(o, key)
	if !ok {
		return 0, false
	}
	return c.atLeast(v, low)
}

func (c *checker) oneOf(o *object, key string, words ...string) (string, bool) {
	s, ok := c.requiredText(o, key)
	if !ok {
		return "", false
	}
	if !slices.Contains(words, s) {
		v, _ := o.get(key)
		c.fail(v, "must be one of %s, not %s", strings.Join(words, ", "), quote(s))
		return "", false
	}
	return s, true
}

func (c *checker) schemaVersion(o *object) {
	v, ok := c.required(o, "schema_version")
	if !ok {
		return
	}
	if n, ok := c.integer(v); ok && n != schemaVersion {
		c.fail(v, "must be %d, not %d", schemaVersion, n)
	}
}

func (c *checker) requiredArray(o *object, key string) (iter.Seq[value], bool) {
	v, ok := c.required(o, key)
	if !ok {
		return nil, false
	}
	return c.array(v)
}

// isArray is for an array whose items are nobody's concern.
func (c *checker) isArray(v value) {
	if v.raw[0] != '[' {
		c.fail(v, "must be an array, not %s", v.kind())
	}
}

func (c *checker) optionalInteger(o *object, key string) *int64 {
	v, ok := o.get(key)
	if !ok {
		return nil
	}
	n, ok := c.integer(v)
	if !ok {
		return nil
	}
	return &n
}
