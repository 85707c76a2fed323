package artifact

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// The verdicts of a review, spelled as they are recorded.
const (
	Approve         = "APPROVE"
	RequestChanges  = "REQUEST CHANGES"
	NeedsDiscussion = "NEEDS DISCUSSION"
)

// The categories of a finding.
const (
	Blocker    = "blocker"
	ShouldFix  = "should_fix"
	Suggestion = "suggestion"
	Style      = "style"
)

// minTitle is the least number of characters of a finding's title, measured
// after cleaning and trimming.
const minTitle = 8

// Round is the sound payload of one review round. Its texts are cleaned.
type Round struct {
	Verdict   string
	Reviewers []Reviewer

	synthesis *synthesis
	document  []byte
	warnings  Warnings
}

// Reviewer is what one reviewer found. Type and Instance together name it.
type Reviewer struct {
	Type     string
	Instance int64
	Findings []Finding
}

// Finding is one remark. Pointers are nil where the payload gives nothing.
type Finding struct {
	Title     string
	Category  string
	Severity  string
	Summary   string
	FilePath  *string
	LineStart *int64
	LineEnd   *int64
}

// RoundCounts are the numbers recorded with a completed round.
type RoundCounts struct {
	Blockers    int64
	ShouldFix   int64
	Suggestions int64
	Reviewers   int64
	Findings    int64
}

// synthesis holds the counts the payload states itself, after its author has
// merged findings that say the same.
type synthesis struct {
	blockers, shouldFix, suggestions int64
}

// Document is what is written to round-meta.json: the payload with its texts
// cleaned, everything else as it was given, unknown keys included; indented unless
// that would pass MaxPayload, so that it can always be read again.
func (r *Round) Document() []byte { return r.document }

// Warnings are the keys that nothing reads.
func (r *Round) Warnings() Warnings { return r.warnings }

// Counts gives the numbers that count: those of synthesis_counts where the
// payload has them, else the tally of the findings. Reviewers and findings are
// always counted. Style findings belong to no category count.
func (r *Round) Counts() RoundCounts {
	counts := tally(r.Reviewers)
	if s := r.synthesis; s != nil {
		counts.Blockers, counts.ShouldFix, counts.Suggestions = s.blockers, s.shouldFix, s.suggestions
	}
	return counts
}

func tally(reviewers []Reviewer) RoundCounts {
	counts := RoundCounts{Reviewers: int64(len(reviewers))}
	for _, reviewer := range reviewers {
		for _, f := range reviewer.Findings {
			counts.Findings++
			switch f.Category {
			case Blocker:
				counts.Blockers++
			case ShouldFix:
				counts.ShouldFix++
			case Suggestion:
				counts.Suggestions++
			}
		}
	}
	return counts
}

// ParseRound reads the payload of a review round. Its error is an *Invalid with
// every problem of the payload. An escaped half of a surrogate pair in a text
// becomes U+FFFD.
func ParseRound(data []byte) (*Round, error) {
	root, err := open(data)
	if err != nil {
		return nil, err
	}
	p := &roundParser{countable: true}
	o, _ := p.object(root, roundShape)
	if o.has("sections") && !o.has("reviewers") {
		return nil, invalid("is the payload of a map (sections and no reviewers); " +
			"record a map with `ocr state complete-map`, a review with reviewers")
	}
	p.schemaVersion(o)
	r := &Round{}
	verdict, verdictKnown := p.verdict(o)
	r.Verdict = verdict
	r.Reviewers = p.reviewers(o)
	countsKnown := p.counts(o, r)
	if verdictKnown && countsKnown {
		p.direction(o, r)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	r.warnings = p.warnings()
	r.document = stored(o.encode(), MaxPayload)
	return r, nil
}

type roundParser struct {
	checker
	// countable is false once a category could not be read: the tally is then
	// unknown, and a rule about it would only repeat the first problem.
	countable bool
}

func (p *roundParser) verdict(o *object) (string, bool) {
	given, ok := p.requiredText(o, "verdict")
	if !ok {
		return "", false
	}
	verdict := trim(clean(given))
	words := []string{Approve, RequestChanges, NeedsDiscussion}
	if !slices.Contains(words, verdict) {
		v, _ := o.get("verdict")
		p.fail(v, "must be one of %s, not %s", strings.Join(words, ", "), quote(given))
		return "", false
	}
	o.set("verdict", encodeText(verdict))
	return verdict, true
}

func (p *roundParser) reviewers(o *object) []Reviewer {
	items, ok := p.requiredArray(o, "reviewers")
	if !ok {
		p.countable = false
		return nil
	}
	type name struct {
		kind     string
		instance int64
	}
	first := map[name]string{}
	reviewers := []Reviewer{}
	var written []json.RawMessage
	for item := range items {
		reviewer, raw, named := p.reviewer(item)
		if named {
			n := name{reviewer.Type, reviewer.Instance}
			if before, taken := first[n]; taken {
				p.fail(item, "repeats %s (type %s, instance %d); give every reviewer its own instance",
					before, quote(n.kind), n.instance)
			} else {
				first[n] = item.path
			}
		}
		if p.countable {
			reviewers = append(reviewers, reviewer)
			written = append(written, raw)
		}
	}
	o.set("reviewers", encodeList(written))
	return reviewers
}

// reviewer reads one reviewer; named tells whether type and instance are sound.
func (p *roundParser) reviewer(v value) (r Reviewer, raw json.RawMessage, named bool) {
	o, ok := p.object(v, reviewerShape)
	if !ok {
		p.countable = false
		return r, nil, false
	}
	kind, typed := p.requiredText(o, "type")
	instance, numbered := p.requiredAtLeast(o, "instance", 1)
	r.Type, r.Instance = kind, instance
	items, ok := p.requiredArray(o, "findings")
	if !ok {
		p.countable = false
		return r, nil, typed && numbered
	}
	var written []json.RawMessage
	r.Findings = []Finding{}
	for item := range items {
		f, raw := p.finding(item)
		if p.countable {
			r.Findings = append(r.Findings, f)
			written = append(written, raw)
		}
	}
	o.set("findings", encodeList(written))
	return r, o.encode(), typed && numbered
}

func (p *roundParser) finding(v value) (f Finding, raw json.RawMessage) {
	o, ok := p.object(v, findingShape)
	if !ok {
		p.countable = false
		return f, nil
	}
	f.Title = p.title(o)
	if f.Category, ok = p.oneOf(o, "category", Blocker, ShouldFix, Suggestion, Style); !ok {
		p.countable = false
	}
	f.Severity, _ = p.oneOf(o, "severity", "critical", "high", "medium", "low", "info")
	f.Summary, _ = p.freeText(o, "summary")
	if v, ok := o.get("file_path"); ok {
		if s, ok := p.text(v); ok {
			f.FilePath = &s
		}
	}
	f.LineStart = p.optionalInteger(o, "line_start")
	f.LineEnd = p.optionalInteger(o, "line_end")
	if v, ok := o.get("flagged_by"); ok {
		p.isArray(v)
	}
	return f, o.encode()
}

func (p *roundParser) title(o *object) string {
	s, ok := p.freeText(o, "title")
	if !ok {
		return ""
	}
	if n := utf8.RuneCountInString(trim(settled(s))); n < minTitle {
		v, _ := o.get("title")
		p.fail(v, "must have at least %d characters once cleaned and trimmed, not %d: %s", minTitle, n, quote(s))
	}
	return s
}

// counts reads synthesis_counts. It is false if the effective counts are not
// known.
func (p *roundParser) counts(o *object, r *Round) bool {
	v, ok := o.get("synthesis_counts")
	if !ok {
		return p.countable
	}
	s, ok := p.object(v, countsShape)
	if !ok {
		return false
	}
	found := tally(r.Reviewers)
	blockers, ok1 := p.count(s, "blockers", Blocker, found.Blockers)
	shouldFix, ok2 := p.count(s, "should_fix", ShouldFix, found.ShouldFix)
	suggestions, ok3 := p.count(s, "suggestions", Suggestion, found.Suggestions)
	r.synthesis = &synthesis{blockers, shouldFix, suggestions}
	return ok1 && ok2 && ok3
}

func (p *roundParser) count(o *object, key, category string, found int64) (int64, bool) {
	n, ok := p.requiredAtLeast(o, key, 0)
	if ok && p.countable && n > found {
		v, _ := o.get(key)
		p.fail(v, "must not be larger than the number of %s findings, %d; it is %d", category, found, n)
		return n, false
	}
	return n, ok
}

// direction holds the verdict to the blockers that count.
func (p *roundParser) direction(o *object, r *Round) {
	v, _ := o.get("verdict")
	blockers := r.Counts().Blockers
	switch {
	case r.Verdict == Approve && blockers > 0:
		p.fail(v, "must not be %s while %d blockers count; resolve them, or choose another verdict", Approve, blockers)
	case r.Verdict == RequestChanges && blockers == 0:
		p.fail(v, "must not be %s while no blocker counts; name the blocker, or choose another verdict", RequestChanges)
	}
}
