package artifact

import "encoding/json"

// Map is the sound payload of one map run. Its texts are cleaned.
type Map struct {
	Sections []Section

	document []byte
	warnings Warnings
}

// Section is one part of the map. Description is nil where none is given.
type Section struct {
	Number      int64
	Title       string
	Description *string
	Files       []File
}

// File is one changed file; Added and Deleted are lines.
type File struct {
	Path    string
	Role    string
	Added   int64
	Deleted int64
}

// MapCounts are the numbers recorded with a completed map run.
type MapCounts struct {
	Sections int64
	Files    int64
}

// Document is what is written to map-meta.json: the payload with its texts
// cleaned, everything else as it was given, unknown keys included; indented unless
// that would pass MaxPayload, so that it can always be read again.
func (m *Map) Document() []byte { return m.document }

// Warnings are the keys that nothing reads.
func (m *Map) Warnings() Warnings { return m.warnings }

// Counts counts sections and files. A file in two sections counts twice.
func (m *Map) Counts() MapCounts {
	counts := MapCounts{Sections: int64(len(m.Sections))}
	for _, s := range m.Sections {
		counts.Files += int64(len(s.Files))
	}
	return counts
}

// ParseMap reads the payload of a map run. Its error is an *Invalid with every
// problem of the payload. An escaped half of a surrogate pair in a text becomes
// U+FFFD.
func ParseMap(data []byte) (*Map, error) {
	root, err := open(data)
	if err != nil {
		return nil, err
	}
	p := &mapParser{}
	o, _ := p.object(root, mapShape)
	if o.has("reviewers") && !o.has("sections") {
		return nil, invalid("is the payload of a review round (reviewers and no sections); " +
			"record a round with `ocr state complete-round`, a map with sections")
	}
	p.schemaVersion(o)
	m := &Map{Sections: p.sections(o)}
	if v, ok := o.get("dependencies"); ok {
		p.isArray(v)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	m.warnings = p.warnings()
	m.document = stored(o.encode(), MaxPayload)
	return m, nil
}

type mapParser struct {
	checker
}

func (p *mapParser) sections(o *object) []Section {
	items, ok := p.requiredArray(o, "sections")
	if !ok {
		return nil
	}
	first := map[int64]string{}
	sections := []Section{}
	var written []json.RawMessage
	for item := range items {
		s, raw := p.section(item, first)
		if p.sound() {
			sections = append(sections, s)
			written = append(written, raw)
		}
	}
	o.set("sections", encodeList(written))
	return sections
}

// section reads one section; first holds where each number was seen first.
func (p *mapParser) section(v value, first map[int64]string) (s Section, raw json.RawMessage) {
	o, ok := p.object(v, sectionShape)
	if !ok {
		return s, nil
	}
	if v, ok := p.required(o, "section_number"); ok {
		if s.Number, ok = p.integer(v); ok {
			if before, taken := first[s.Number]; taken {
				p.fail(v, "is %d, the number of %s too; give every section its own", s.Number, before)
			} else {
				first[s.Number] = o.path
			}
		}
	}
	if s.Title, ok = p.freeText(o, "title"); ok {
		p.notBlank(o, "title", settled(s.Title))
	}
	if o.has("description") {
		if text, ok := p.freeText(o, "description"); ok {
			s.Description = &text
		}
	}
	items, ok := p.requiredArray(o, "files")
	if !ok {
		return s, nil
	}
	seen := map[string]string{}
	s.Files = []File{}
	var written []json.RawMessage
	for item := range items {
		f, raw := p.file(item, seen)
		if p.sound() {
			s.Files = append(s.Files, f)
			written = append(written, raw)
		}
	}
	o.set("files", encodeList(written))
	return s, o.encode()
}

// file reads one file; seen holds where each path of the section was seen.
func (p *mapParser) file(v value, seen map[string]string) (f File, raw json.RawMessage) {
	o, ok := p.object(v, fileShape)
	if !ok {
		return f, nil
	}
	if f.Path, ok = p.requiredText(o, "file_path"); ok && p.notBlank(o, "file_path", f.Path) {
		if before, taken := seen[f.Path]; taken {
			v, _ := o.get("file_path")
			p.fail(v, "is %s, the file of %s too; name a file once in a section", quote(f.Path), before)
		} else {
			seen[f.Path] = o.path
		}
	}
	f.Role, _ = p.freeText(o, "role")
	f.Added, _ = p.requiredAtLeast(o, "lines_added", 0)
	f.Deleted, _ = p.requiredAtLeast(o, "lines_deleted", 0)
	return f, o.encode()
}

func (p *mapParser) notBlank(o *object, key, s string) bool {
	if trim(s) != "" {
		return true
	}
	v, _ := o.get(key)
	p.fail(v, "must not be empty")
	return false
}
