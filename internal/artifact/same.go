package artifact

import (
	"bytes"
	"encoding/json"
)

// SameDocument tells whether two JSON texts say the same: order of keys, white
// space, escapes and the spelling of numbers do not matter. Text that is not
// JSON is the same only as itself.
func SameDocument(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, ok := decode(a)
	if !ok {
		return false
	}
	y, ok := decode(b)
	return ok && same(x, y)
}

func decode(data []byte) (any, bool) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if !json.Valid(data) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err == nil
}

func same(x, y any) bool {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key, v := range x {
			w, ok := y[key]
			if !ok || !same(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !same(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := y.(json.Number)
		return ok && sameNumber(x.String(), y.String())
	}
	return x == y
}

func sameNumber(x, y string) bool {
	if x == y {
		return true
	}
	a, err := parseDecimal(x)
	if err != nil {
		return false
	}
	b, err := parseDecimal(y)
	return err == nil && a == b
}
