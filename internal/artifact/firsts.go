package artifact

import "slices"

// firsts keeps the first MaxProblems remarks on a payload in document order,
// in whatever order they are found, and counts the others.
type firsts struct {
	kept  []located
	total int
}

// located is a remark with the place in the payload that orders it.
type located struct {
	offset int64
	Problem
}

// add takes one remark; its text is made only if it is kept.
func (f *firsts) add(offset int64, path string, message func() string) {
	f.total++
	at := len(f.kept)
	for at > 0 && f.kept[at-1].offset > offset {
		at--
	}
	if at == MaxProblems {
		return
	}
	if len(f.kept) == MaxProblems {
		f.kept = f.kept[:MaxProblems-1]
	}
	f.kept = slices.Insert(f.kept, at, located{offset, Problem{path, message()}})
}

// has tells whether a remark on that place was kept.
func (f *firsts) has(path string) bool {
	return slices.ContainsFunc(f.kept, func(l located) bool { return l.Path == path })
}

// more is the number of the remarks that were not kept.
func (f *firsts) more() int { return f.total - len(f.kept) }

func (f *firsts) problems() []Problem {
	problems := make([]Problem, len(f.kept))
	for i, l := range f.kept {
		problems[i] = l.Problem
	}
	return problems
}
